/** Page of a repository without results of its default branch: how to send the first, and what else has arrived. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { BASE } from '../api/client.ts';
import { makeKey, type RepositoryPath, sessionQuery } from '../api/queries.ts';
import { Copy } from '../ui/copy.tsx';
import { Secret } from '../ui/secret.tsx';
import { useTitle } from '../ui/title.ts';
import { recipesOf } from './first-report-recipes.ts';
import { SetupSteps } from './setup-steps.tsx';

export function FirstReport(path: RepositoryPath) {
  const { owner, repository } = path;
  useTitle(`${owner}/${repository}`);
  return (
    <div className="mx-auto max-w-2xl py-6">
      <h1 className="mb-1 text-lg font-semibold break-words">
        {owner}/{repository} has not sent results from its default branch
      </h1>
      <p className="mb-4 text-soft">Waiting for the first report. This page changes with it.</p>
      <SetupSteps path={path} />
      <h2 className="mt-6 mb-3 font-semibold">What CI needs</h2>
      <Recipes {...path} />
    </div>
  );
}

/** A key, and where it goes with the commands that send reports. */
export function Recipes(path: RepositoryPath) {
  const { owner, repository } = path;
  const { data: session } = useQuery(sessionQuery);
  const making = useMutation({
    mutationFn: () => makeKey({ name: `${repository} CI`, scope: 'upload', owner, repositories: [repository] }),
  });
  const token = making.data?.body.token;
  return (
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
      <Sending path={path} />
    </ol>
  );
}

/** The address, the key and the command, as the chosen CI wants them. */
function Sending({ path: { owner, repository } }: { path: RepositoryPath }) {
  const recipes = recipesOf({ repository: `${owner}/${repository}`, origin: window.location.origin + BASE });
  const [chosen, choose] = useState(recipes[0]?.ci);
  const recipe = recipes.find(({ ci }) => ci === chosen);
  return (
    <>
      <li className="card flex flex-col gap-3 px-4 py-3">
        <fieldset className="flex flex-wrap gap-2">
          <legend className="mb-2 font-medium">Choose your CI</legend>
          {recipes.map(({ ci }) => (
            <button
              key={ci}
              type="button"
              aria-pressed={ci === chosen}
              className="button h-7 px-2 text-xs aria-pressed:border-accent aria-pressed:bg-accent aria-pressed:text-white"
              onClick={() => choose(ci)}
            >
              {ci}
            </button>
          ))}
        </fieldset>
        {recipe && <p className="text-soft">Give it the key as a secret. {recipe.secret}.</p>}
      </li>
      {recipe && (
        <Step title={`${recipe.place}, for the JUnit reports in the folder “reports”`} hint={recipe.hint}>
          {recipe.code}
        </Step>
      )}
    </>
  );
}

function Step({ title, hint, children }: { title: string; hint?: string | undefined; children: string }) {
  return (
    <li className="card overflow-hidden">
      <div className="flex items-center gap-3 border-b border-line px-4 py-2">
        <span className="min-w-0 font-medium break-words">{title}</span>
        <Copy text={children} />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways */}
      <pre tabIndex={0} className="overflow-x-auto px-4 py-3 font-mono text-xs leading-5">
        {children}
      </pre>
      {hint !== undefined && <p className="border-t border-line px-4 py-2 text-xs text-soft">{hint}</p>}
    </li>
  );
}
