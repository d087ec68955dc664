/** Page of a repository without results: how to send the first. It changes when they have arrived. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { BASE } from '../api/client.ts';
import { makeKey, type RepositoryPath, sessionQuery } from '../api/queries.ts';
import { Copy } from '../ui/copy.tsx';
import { Secret } from '../ui/secret.tsx';
import { useTitle } from '../ui/title.ts';

export function FirstReport({ owner, repository }: RepositoryPath) {
  useTitle(`${owner}/${repository}`);
  const { data: session } = useQuery(sessionQuery);
  const making = useMutation({
    mutationFn: () => makeKey({ name: `${repository} CI`, scope: 'upload', owner, repositories: [repository] }),
  });
  const token = making.data?.body.token;
  const origin = window.location.origin + BASE;
  return (
    <div className="mx-auto max-w-2xl py-6">
      <h1 className="mb-1 text-lg font-semibold">
        {owner}/{repository} has not sent results from its default branch
      </h1>
      <p className="mb-5 flex items-center gap-2 text-soft" role="status">
        <span className="size-2 motion-safe:animate-pulse rounded-full bg-accent" aria-hidden="true" />
        Waiting for the first report. This page changes when it arrives.
      </p>
      <ol className="flex flex-col gap-4">
        {session?.is_operator ? (
          <li className="card flex flex-wrap items-center gap-3 px-4 py-3">
            <span className="font-medium">Make a key for its CI</span>
            <button
              type="button"
              className="button button-primary ml-auto"
              disabled={making.isPending || token !== undefined}
              onClick={() => making.mutate()}
            >
              {token === undefined ? 'Make a key' : 'Made'}
            </button>
            {token !== undefined && <Secret token={token} />}
            {making.error && (
              <p role="alert" className="basis-full text-broken">
                {making.error.message}
              </p>
            )}
          </li>
        ) : (
          <Step title="Make a key for CI, where the service runs">
            {`ci-insights keys create --owner ${owner} --repository ${repository} --scope upload`}
          </Step>
        )}
        <Step title="Give it to CI as a secret, with the address of this service">
          {`export CI_INSIGHTS_URL=${origin}\nexport CI_INSIGHTS_TOKEN=${token ?? 'cii_…'}`}
        </Step>
        <Step title="Send the JUnit reports in the folder “reports” after the tests, whether they passed or failed">
          {`curl -fsS "$CI_INSIGHTS_URL/cli/ci-insights.mjs" -o ci-insights.mjs\nnode ci-insights.mjs push junit reports --repo ${owner}/${repository} --branch main`}
        </Step>
      </ol>
    </div>
  );
}

function Step({ title, children }: { title: string; children: string }) {
  return (
    <li className="card overflow-hidden">
      <div className="flex items-center border-b border-line px-4 py-2">
        <span className="font-medium">{title}</span>
        <Copy text={children} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways */}
      <pre tabIndex={0} className="overflow-x-auto px-4 py-3 font-mono text-xs leading-5">
        {children}
      </pre>
    </li>
  );
}
