/** What setting up a repository takes, step by step; each turns green by itself once it has happened. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Setup } from '../../src/insights/setup.ts';
import { type RepositoryPath, setupQuery } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { Pull } from '../ui/pull.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

interface StepProps {
  title: string;
  isDone: boolean;
  children: ReactNode;
}

export function SetupSteps({ path }: { path: RepositoryPath }) {
  const { data: setup, error, refetch } = useQuery(setupQuery(path));
  if (!setup) return error ? <Failed error={error} reset={() => void refetch()} /> : <Loading rows={8} />;
  const { key, pull_request: pull, default_branch: main, other_branch: other, gate } = setup;
  const hasReported = pull !== null || main !== null || other !== null;
  return (
    <ol aria-label="Steps" className="card divide-y divide-line">
      <Step title="A key, or an identity token of CI, is used" isDone={key !== null || hasReported}>
        {key ? (
          <>
            {key.is_identity_token ? 'An identity token of a CI job was used ' : 'A key was used '}
            <Time at={key.at} />.
          </>
        ) : hasReported ? (
          'Reports arrive.'
        ) : (
          'Waiting for the first request with a key of the scope upload or ci.'
        )}
      </Step>
      <Step title="A pull request reports" isDone={pull !== null}>
        {pull ? (
          <Newest path={path} report={pull} />
        ) : other ? (
          <>
            Only branches without a pull request have reported: <Newest path={path} report={other} /> The client reads
            the number from the environment of the CI.
          </>
        ) : (
          'Open a pull request, or push to one. Then each failed test of it has a verdict.'
        )}
      </Step>
      <Step title="The default branch reports" isDone={main !== null}>
        {main ? (
          <Newest path={path} report={main} />
        ) : (
          'Merge a pull request, or run CI on the default branch. The health of tests is judged there.'
        )}
      </Step>
      <Step title="The gate runs" isDone={gate !== null}>
        {gate ? (
          <>
            It last sent reports <Time at={gate.at} />, give or take an hour.
          </>
        ) : (
          <>
            Let a job pass if every failure is excused: replace the test command by{' '}
            <code className="font-mono text-xs break-words">
              node ci-insights.mjs gate junit reports -- &lt;test command&gt;
            </code>
          </>
        )}
      </Step>
    </ol>
  );
}

function Step({ title, isDone, children }: StepProps) {
  return (
    <li className="flex items-baseline gap-3 px-4 py-3">
      <span
        className={`w-4 shrink-0 text-center font-semibold ${isDone ? 'text-healthy' : 'text-soft'}`}
        aria-hidden="true"
      >
        {isDone ? '✓' : '○'}
      </span>
      <div className="min-w-0">
        <p className="font-medium break-words">
          {title}
          <span className="sr-only">{isDone ? ': done' : ': not yet'}</span>
        </p>
        <p className="break-words text-soft">{children}</p>
      </div>
    </li>
  );
}

function Newest({ path, report }: { path: RepositoryPath; report: NonNullable<Setup['default_branch']> }) {
  const { pull_request: pull, branch, commit_sha: commit, pipeline_name, job_name, at } = report;
  return (
    <>
      {pull !== null ? <Pull path={path} number={pull} prefix="pull request " /> : (branch ?? 'no branch')}
      {commit !== null && (
        <>
          {' '}
          at <Commit path={path} commit={commit} />
        </>
      )}
      , {pipeline_name} / {job_name}, <Time at={at} />.
    </>
  );
}
