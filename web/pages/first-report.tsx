/** Page of a repository without results of its default branch: how to send the first, and what else has arrived. */
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { RunList } from '../../src/insights/runs.ts';
import { BASE } from '../api/client.ts';
import { makeKey, type RepositoryPath, runsQuery, sessionQuery } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { Copy } from '../ui/copy.tsx';
import { formatCount } from '../ui/format.ts';
import { Pull } from '../ui/pull.tsx';
import { Secret } from '../ui/secret.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { recipesOf } from './first-report-recipes.ts';

const ASK_AGAIN_MS = 3_000;

export function FirstReport(path: RepositoryPath) {
  const { owner, repository } = path;
  useTitle(`${owner}/${repository}`);
  const { data: session } = useQuery(sessionQuery);
  const making = useMutation({
    mutationFn: () => makeKey({ name: `${repository} CI`, scope: 'upload', owner, repositories: [repository] }),
  });
  const token = making.data?.body.token;
  return (
    <div className="mx-auto max-w-2xl py-6">
      <h1 className="mb-1 text-lg font-semibold break-words">
        {owner}/{repository} has not sent results from its default branch
      </h1>
      <Arrived path={path} />
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
    </div>
  );
}

/** Nothing, or runs of pull requests and other branches: they are not lost, but are not shown here. */
function Arrived({ path }: { path: RepositoryPath }) {
  const found = useInfiniteQuery({ ...runsQuery(path, {}), refetchInterval: ASK_AGAIN_MS });
  const [newest] = found.data?.pages[0]?.body.runs ?? [];
  return (
    <div className="mb-5 flex items-baseline gap-2 text-soft" role="status">
      <span
        className={`size-2 shrink-0 rounded-full bg-accent ${newest ? '' : 'motion-safe:animate-pulse'}`}
        aria-hidden="true"
      />
      {newest ? (
        <Newest path={path} run={newest} />
      ) : (
        <p>Waiting for the first report. This page changes when it arrives.</p>
      )}
    </div>
  );
}

function Newest({ path, run }: { path: RepositoryPath; run: RunList['runs'][number] }) {
  const executions = run.passed + run.failed + run.skipped;
  return (
    <p className="min-w-0 break-words">
      CI reports arrive: {formatCount(executions)} {executions === 1 ? 'result' : 'results'} of{' '}
      {run.pull_request !== null ? (
        <Pull path={path} number={run.pull_request} prefix="pull request " />
      ) : run.branch !== null ? (
        <>the branch {run.branch}</>
      ) : (
        'no branch'
      )}
      {run.commit_sha !== null && (
        <>
          {' '}
          at <Commit path={path} commit={run.commit_sha} />
        </>
      )}
      , <Time at={run.started_at} />. Health is judged on the default branch: this page changes with its first report.
    </p>
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
