/** Failed tests of a commit, by what they mean for its author. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import type { CommitFailures } from '../../src/insights/commit-failures.ts';
import type { Query } from '../api/client.ts';
import { commitQuery, promptQuery, type RepositoryPath, sessionQuery } from '../api/queries.ts';
import { Attachments } from '../ui/attachments.tsx';
import { CopyPrompt } from '../ui/copy-prompt.tsx';
import { ExternalLink } from '../ui/external.tsx';
import { formatCount, formatCounted } from '../ui/format.ts';
import { legsWords } from '../ui/leg-words.ts';
import { Reproduce } from '../ui/reproduce.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Unfolding } from '../ui/unfolding.tsx';
import { ClaimView } from './claim.tsx';
import { evidenceInWords } from './evidence-words.ts';
import { QuarantineDialog } from './quarantine-dialog.tsx';

type Failure = CommitFailures['failures'][number];
type Verdict = Failure['verdict'];

/** Titles and meanings of verdicts; those that need attention come first, as in the API. */
const VERDICTS: Record<Verdict, { title: string; meaning: string; colour: string }> = {
  new: {
    title: 'New',
    meaning: 'The default branch did not fail like this then: look at these first.',
    colour: 'bg-broken-soft text-broken',
  },
  broken: {
    title: 'Broken on the default branch',
    meaning: 'They failed in the same way without this commit.',
    colour: 'bg-raised text-ink',
  },
  known_flaky: {
    title: 'Known flaky',
    meaning: 'They fail like this from time to time without a change. Run the job again.',
    colour: 'bg-flaky-soft text-flaky',
  },
  infrastructure: {
    title: 'Infrastructure',
    meaning:
      'Trouble that hit their runs, or those of others as well, explains them, so they say nothing about the tests.',
    colour: 'bg-raised text-ink',
  },
  quarantined: {
    title: 'Quarantined',
    meaning: 'Their failures do not count at the moment.',
    colour: 'bg-raised text-soft',
  },
};

interface VerdictListProps {
  path: RepositoryPath;
  commit: string;
  /** Only failures of some runs, as in `…/commits/{commit_sha}/failures`. */
  only?: Query;
  /** Shown while nothing of the commit has arrived. */
  nothing: ReactNode;
}

export function VerdictList({ path, commit, only = {}, nothing }: VerdictListProps) {
  const found = useInfiniteQuery({ ...commitQuery(path, commit, only), refetchInterval: 15_000 });
  const { data: session } = useQuery(sessionQuery);
  // Not in its row, which a new answer may put elsewhere.
  const [asked, setAsked] = useState<Failure>();
  const mayQuarantine = session !== undefined && session?.scope !== 'view';
  if (found.isPending) return <Loading />;
  // The last answer stays while a store is away.
  if (!found.data) return <Failed error={found.error} reset={() => void found.refetch()} />;
  const first = found.data.pages[0]?.body;
  if (!first || first.runs === 0) return nothing;
  const failures = found.data.pages.flatMap(({ body }) => body.failures);
  return (
    <>
      {failures.length === 0 && (
        <div className="card">
          <Empty title="Nothing failed">
            <p>
              {first.runs === 1
                ? 'One attempt of a CI job has arrived.'
                : `${formatCount(first.runs)} attempts of CI jobs have arrived.`}
            </p>
          </Empty>
        </div>
      )}
      {Object.entries(VERDICTS).map(([verdict, look]) => {
        const shown = failures.filter((failure) => failure.verdict === verdict);
        return (
          shown.length > 0 && (
            <section key={verdict} aria-label={look.title} className="card">
              <div className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-2">
                <h2 className={`rounded-full px-2.5 py-0.5 text-sm font-semibold ${look.colour}`}>
                  {formatCount(first.verdicts[verdict] ?? shown.length)} {look.title}
                </h2>
                <p className="text-soft">{look.meaning}</p>
              </div>
              <ul>
                {byCause(shown).map(([first, ...others]) => {
                  const rowOf = (failure: Failure) => (
                    <Row
                      key={keyOf(failure)}
                      path={path}
                      commit={commit}
                      failure={failure}
                      onQuarantine={mayQuarantine ? () => setAsked(failure) : undefined}
                    />
                  );
                  if (others.length === 0) return rowOf(first);
                  return (
                    <OfOneCause key={keyOf(first)} path={path} failures={[first, ...others]}>
                      {() => <ul className="border-t border-line pl-5">{[first, ...others].map(rowOf)}</ul>}
                    </OfOneCause>
                  );
                })}
              </ul>
            </section>
          )
        );
      })}
      {found.hasNextPage && (
        <button
          type="button"
          className="button self-center"
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          {found.isFetchingNextPage ? 'Loading …' : 'More failures'}
        </button>
      )}
      {asked && (
        <QuarantineDialog
          path={{ ...path, testId: asked.test_id }}
          testName={asked.test_name}
          failure={excused(asked)}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

const keyOf = (failure: Failure): string => `${failure.test_id} ${failure.pipeline_name} ${failure.job_name}`;

/** Fewer are as quickly read as a row that unfolds. */
const FOLDED_MIN = 3;

/** Failures of one cause together, at the place of the first of them; the others alone. */
function byCause(failures: readonly Failure[]): [Failure, ...Failure[]][] {
  const groups = Map.groupBy(failures, (failure) => failure.cause_id ?? keyOf(failure));
  return [...groups.values()].flatMap((group): [Failure, ...Failure[]][] => {
    const [first, ...others] = group;
    if (first === undefined) return [];
    return group.length < FOLDED_MIN ? group.map((failure) => [failure]) : [[first, ...others]];
  });
}

interface OfOneCauseProps {
  path: RepositoryPath;
  failures: readonly [Failure, ...Failure[]];
  children: () => ReactNode;
}

/** Failures of one cause as one row that unfolds. */
function OfOneCause({ path, failures, children }: OfOneCauseProps) {
  const [first] = failures;
  return (
    <li className="border-b border-line last:border-0">
      <Unfolding
        grid="cursor-pointer"
        summary={
          <>
            <span className="font-medium">{formatCounted(failures.length, 'failure')} of one cause</span>{' '}
            <span className="text-soft">
              {first.exception_type}: {first.exception_message}
            </span>
          </>
        }
      >
        {children}
      </Unfolding>
      {first.cause_id !== null && (
        <p className="px-4 pb-2 text-xs">
          <Link
            to="/$owner/$repository/causes/$cause"
            params={{ ...path, cause: first.cause_id }}
            className="inline-block py-1"
          >
            The cause on the default branch
          </Link>
        </p>
      )}
    </li>
  );
}

/** Quarantining these would change nothing, or hide what is not the test's. */
const SAYS_NOTHING: readonly Verdict[] = ['quarantined', 'infrastructure'];

interface RowProps {
  path: RepositoryPath;
  commit: string;
  failure: Failure;
  /** Asks for a quarantine of it; undefined: the reader may not make one. */
  onQuarantine: (() => void) | undefined;
}

function Row({ path, commit, failure, onQuarantine }: RowProps) {
  return (
    <li className="border-b border-line px-4 py-2.5 last:border-0">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <Link
          to="/$owner/$repository/tests/$testId"
          params={{ ...path, testId: failure.test_id }}
          search={failure.failure_id === null ? {} : { failure: failure.failure_id }}
          className="min-w-0 font-medium break-words text-ink"
        >
          {failure.test_name}
        </Link>
        <span className="ml-auto shrink-0 text-xs text-soft">
          {failure.pipeline_name} · {legsWords(failure.job_name, failure.legs)}{' '}
          {failure.job_url !== null && <ExternalLink href={failure.job_url}>job</ExternalLink>}
        </span>
      </div>
      <p className="line-clamp-2 text-soft">
        {failure.exception_type}: {failure.exception_message}
      </p>
      {failure.attachments.length > 0 && (
        <p className="flex flex-wrap gap-x-3 gap-y-2 text-xs">
          <Attachments attachments={failure.attachments} />
        </p>
      )}
      <ClaimView claim={failure.claim} />
      {failure.reproduce !== null && <Reproduce command={failure.reproduce} />}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <p className="min-w-0 flex-1 basis-60 text-xs text-soft">
          {evidenceInWords(failure.evidence, failure.legs[0]?.axes)}
          {failure.owners.length > 0 && <span className="wrap-anywhere"> Owned by {failure.owners.join(', ')}.</span>}
        </p>
        <div className="ml-auto flex flex-wrap items-center justify-end gap-2">
          <CopyPrompt
            query={promptQuery(path, { commit, testId: failure.test_id })}
            about={failure.test_name}
            isSmall={true}
          />
          {onQuarantine && !SAYS_NOTHING.includes(failure.verdict) && (
            <button type="button" className="button h-6 px-2 text-xs" onClick={onQuarantine}>
              Quarantine …<span className="sr-only"> {failure.test_name}</span>
            </button>
          )}
        </div>
      </div>
    </li>
  );
}

const excused = (failure: Failure) => ({
  pipeline: failure.pipeline_name,
  job: failure.job_name,
  legs: failure.legs,
  group:
    failure.failure_id === null
      ? null
      : {
          id: failure.failure_id,
          exception_type: failure.exception_type ?? '',
          exception_message: failure.exception_message ?? '',
          // That the default branch has.
          failure_count: failure.evidence.default_branch_failures,
          last_failure_at: failure.failed_at,
        },
});
