/** What changed this week, repository by repository, the most trouble first. */
import { Link } from '@tanstack/react-router';
import type { RepositoryChangeList } from '../../src/insights/repository-changes.ts';
import { formatCount, formatCounted } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { type Column, Table } from '../ui/table.tsx';

type Changed = RepositoryChangeList['repositories'][number];

const pathOf = ({ owner, repository }: Changed) => ({ owner, repository });
const turned = ({ turns }: Changed, ...kinds: string[]): number =>
  kinds.reduce((sum, kind) => sum + (turns[kind] ?? 0), 0);

/** Whether there is something to say about it. */
const hasChanged = (one: Changed): boolean =>
  turned(one, 'turned_broken', 'turned_flaky', 'recovered', 'fixed') > 0 ||
  one.red_runs.this_week + one.red_runs.week_before > 0 ||
  one.ingest.refused_uploads > 0 ||
  one.ingest.has_problems ||
  one.ingest.is_waiting;

const COLUMNS: readonly Column<Changed>[] = [
  {
    id: 'repository',
    head: 'Repository',
    isText: true,
    value: ({ owner, repository }) => `${owner}/${repository}`,
    cell: (one) => <Name of={one} />,
  },
  {
    id: 'turned_broken',
    head: 'Turned broken',
    value: (one) => turned(one, 'turned_broken'),
    cell: (one) => <Count value={turned(one, 'turned_broken')} colour="text-broken" />,
  },
  {
    id: 'turned_flaky',
    head: 'Turned flaky',
    value: (one) => turned(one, 'turned_flaky'),
    cell: (one) => <Count value={turned(one, 'turned_flaky')} colour="text-flaky" />,
  },
  {
    id: 'recovered',
    head: 'Recovered or fixed',
    width: 'max-md:hidden',
    value: (one) => turned(one, 'recovered', 'fixed'),
    cell: (one) => <Count value={turned(one, 'recovered', 'fixed')} colour="text-healthy" />,
  },
  {
    id: 'red_runs',
    head: 'Red runs',
    hint: 'On any branch, and in the week before',
    value: (one) => one.red_runs.this_week,
    cell: (one) => <RedRuns of={one} />,
  },
  {
    id: 'cause',
    head: 'Worst cause',
    isText: true,
    width: 'max-md:hidden',
    value: (one) => one.worst_cause?.cause_id ?? null,
    cell: (one) => <WorstCause of={one} />,
  },
  {
    id: 'uploads',
    head: 'Uploads',
    width: 'max-md:hidden',
    value: (one) => one.ingest.refused_uploads,
    cell: (one) => <Uploads of={one} />,
  },
];

export function RepositoriesWeek({ found }: { found: RepositoryChangeList }) {
  const changed = found.repositories.filter(hasChanged);
  const quiet = found.total - changed.length;
  return (
    <Section title="What changed" aside="in the last 7 days">
      {changed.length > 0 && (
        <Table
          label="What changed in each repository"
          noun="repository"
          isPlain
          columns={COLUMNS}
          rows={changed}
          keyOf={({ owner, repository }) => `${owner}/${repository}`}
        />
      )}
      {quiet > 0 && (
        <p className="border-t border-line px-4 py-2 text-xs text-soft first:border-0">
          {changed.length === 0
            ? 'Nothing: no test changed and no run was red.'
            : found.total > found.repositories.length
              ? `These are the ones with the most unhealthy tests of ${formatCount(found.total)} repositories.`
              : `Nothing changed in ${quiet === 1 ? 'the other one' : `the other ${formatCount(quiet)}`}.`}
        </p>
      )}
    </Section>
  );
}

/** On a phone, with what else is to be looked at. */
const Name = ({ of: one }: { of: Changed }) => (
  <>
    <Link
      to="/$owner/$repository"
      params={pathOf(one)}
      className="inline-block min-h-6 font-medium wrap-anywhere text-ink"
    >
      {one.owner}/{one.repository}
    </Link>
    <span className="flex flex-col items-start gap-y-0.5 text-xs md:hidden">
      {one.worst_cause !== null && <WorstCause of={one} />}
      {(one.ingest.refused_uploads > 0 || one.ingest.has_problems) && (
        <span>
          Uploads: <Uploads of={one} />
        </span>
      )}
    </span>
  </>
);

const Count = ({ value, colour }: { value: number; colour: string }) => (
  <span className={value === 0 ? 'text-soft' : `font-medium ${colour}`}>{formatCount(value)}</span>
);

function RedRuns({ of: { red_runs: red } }: { of: Changed }) {
  const { this_week: now, week_before: before } = red;
  return (
    <>
      <span className={now > before ? 'font-medium text-broken' : ''}>{formatCount(now)}</span>
      <span className="block text-xs text-soft">{formatCount(before)} before</span>
    </>
  );
}

function WorstCause({ of: one }: { of: Changed }) {
  const { worst_cause: cause } = one;
  if (cause === null) return <span className="text-soft">–</span>;
  return (
    <>
      <Link
        to="/$owner/$repository/causes/$cause"
        params={{ ...pathOf(one), cause: cause.cause_id }}
        className="line-clamp-2 break-words text-ink max-md:min-h-6"
      >
        {cause.exception_message || cause.exception_type || 'without a message'}
      </Link>
      <span className="text-xs text-soft">
        {formatCounted(cause.failure_count, 'failure')} of {formatCounted(cause.test_count, 'test')}
      </span>
    </>
  );
}

function Uploads({ of: one }: { of: Changed }) {
  const { refused_uploads: refused, has_problems: hasProblems, is_waiting: isWaiting } = one.ingest;
  if (refused === 0 && !hasProblems) return <span className="text-soft">{isWaiting ? 'waiting' : 'fine'}</span>;
  return (
    <Link
      to="/$owner/$repository/uploads"
      params={pathOf(one)}
      search={{ problems: true }}
      className="text-broken underline max-md:inline-block max-md:py-1"
    >
      {refused > 0 ? `${formatCount(refused)} refused` : 'with problems'}
    </Link>
  );
}
