/** The quarantines as a table, each with its terms and what it has excused. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { effectsQuery, type Quarantine, type RepositoryPath, sessionQuery } from '../api/queries.ts';
import { EffectText } from '../ui/effect.tsx';
import type { Effect } from '../ui/effect-words.ts';
import { ExternalLink } from '../ui/external.tsx';
import { formatCount, formatCounted } from '../ui/format.ts';
import { axisScopeWords } from '../ui/leg-words.ts';
import { type Column, Table } from '../ui/table.tsx';
import { Terms } from '../ui/terms.tsx';
import { TestName } from '../ui/test-name.tsx';
import { Time } from '../ui/time.tsx';
import { Bulk } from './quarantine-bulk.tsx';

interface BoardProps {
  path: RepositoryPath;
  /** The oldest first. */
  quarantines: readonly Quarantine[];
}

/** A row of the table: a quarantine, and what it has excused as far as that is known. */
interface Entry {
  quarantine: Quarantine;
  effect: Effect | undefined;
}

/** Those that could be released come first. */
const FIRST = { id: 'recovered', direction: 'desc' } as const;

export function Board({ path: { owner, repository }, quarantines }: BoardProps) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const path = useMemo(() => ({ owner, repository }), [owner, repository]);
  const { data: session } = useQuery(sessionQuery);
  const effects = useQuery({ ...effectsQuery(path), refetchInterval: 60_000 });
  const columns = useMemo(() => columnsOf(path), [path]);
  const rows = useMemo(() => {
    const byId = new Map(effects.data?.effects.map((effect) => [effect.quarantine_id, effect]));
    return quarantines.map((quarantine): Entry => ({ quarantine, effect: byId.get(quarantine.id) }));
  }, [quarantines, effects.data]);
  const mayChange = session?.scope !== 'view';
  // What a filter hides is not chosen.
  const chosen = quarantines.filter(({ id }) => ids.has(id));
  return (
    <div className="card overflow-hidden">
      <Table
        label="Quarantine"
        noun="quarantine"
        columns={columns}
        rows={rows}
        keyOf={({ quarantine }) => quarantine.id}
        nameOf={({ quarantine }) => quarantine.test_name}
        first={FIRST}
        isWhole
        // There may be thousands.
        onSeen={() => {}}
        selection={mayChange ? { ids: new Set(chosen.map(({ id }) => id)), onChange: setIds } : undefined}
      >
        {effects.error && <span className="text-broken">What they excused is not known: {effects.error.message}</span>}
        {mayChange && (
          <Bulk path={path} chosen={chosen} onDone={(done) => setIds((before) => before.difference(new Set(done)))} />
        )}
      </Table>
    </div>
  );
}

const columnsOf = (path: RepositoryPath): readonly Column<Entry>[] => [
  {
    id: 'test',
    head: 'Test',
    isText: true,
    width: 'max-md:pr-4',
    sorts: ['asc', 'desc'],
    value: ({ quarantine: one }) => one.test_name,
    cell: (entry) => <What path={path} entry={entry} />,
  },
  {
    id: 'recovered',
    head: 'Recovered',
    hint: 'It could be released: the test has passed often enough since',
    isText: true,
    width: 'w-28 max-lg:hidden',
    sorts: ['desc', 'asc'],
    value: ({ quarantine: one }) => one.is_recovered,
    cell: ({ quarantine: one }) => one.is_recovered && <Recovered />,
  },
  {
    id: 'owner',
    head: 'Owner',
    isText: true,
    width: 'w-36 max-md:hidden',
    sorts: ['asc', 'desc'],
    value: ({ quarantine: one }) => one.owner,
    cell: ({ quarantine: one }) => (
      <>
        {one.owner === null ? <span className="text-soft">–</span> : <span className="break-words">{one.owner}</span>}
        {one.ticket_url !== null && (
          <span className="block text-xs">
            <ExternalLink href={one.ticket_url}>ticket</ExternalLink>
          </span>
        )}
      </>
    ),
  },
  {
    id: 'end',
    head: 'Ends',
    isText: true,
    width: 'w-26 max-md:hidden',
    sorts: ['asc', 'desc'],
    value: ({ quarantine: one }) => one.expires_at,
    cell: ({ quarantine: one }) => (
      <span className="text-soft">{one.expires_at === null ? 'never' : <Time at={one.expires_at} />}</span>
    ),
  },
  {
    id: 'branch',
    head: 'Branch',
    isText: true,
    width: 'w-28 max-xl:hidden',
    sorts: ['asc', 'desc'],
    value: ({ quarantine: one }) => one.branch,
    cell: ({ quarantine: one }) => <span className="break-words text-soft">{one.branch ?? 'every'}</span>,
  },
  {
    id: 'excused',
    head: 'Excused',
    hint: 'Failures that did not count because of it',
    width: 'w-20 max-lg:hidden',
    sorts: ['desc', 'asc'],
    value: ({ effect }) => effect?.failed_executions ?? null,
    cell: ({ effect }) => effect && formatCount(effect.failed_executions),
  },
  {
    id: 'spared',
    head: 'Spared',
    hint: 'Red runs in which quarantines excused every failure, of those in which this one excused some',
    width: 'w-22 max-lg:hidden',
    sorts: ['desc', 'asc'],
    value: ({ effect }) => effect?.spared_runs ?? null,
    cell: ({ effect }) => effect && `${formatCount(effect.spared_runs)} of ${formatCount(effect.red_runs)}`,
  },
  {
    id: 'created',
    head: 'Since',
    isText: true,
    width: 'w-32 max-lg:hidden',
    sorts: ['asc', 'desc'],
    value: ({ quarantine: one }) => one.created_at,
    cell: ({ quarantine: one }) => (
      <span className="text-soft">
        <Time at={one.created_at} />
        {one.source === 'auto' && <span className="block text-xs">automatic</span>}
      </span>
    ),
  },
  {
    id: 'source',
    head: 'Made by',
    isText: true,
    isExtra: true,
    width: 'w-26',
    sorts: ['asc', 'desc'],
    value: ({ quarantine: one }) => (one.source === 'auto' ? 'automatic' : 'a person'),
  },
  {
    id: 'reason',
    head: 'Why',
    isText: true,
    isExtra: true,
    width: 'w-64',
    value: ({ quarantine: one }) => one.reason,
  },
  {
    id: 'ticket',
    head: 'Ticket',
    isText: true,
    isExtra: true,
    width: 'w-64 break-all',
    value: ({ quarantine: one }) => one.ticket_url,
    cell: ({ quarantine: one }) =>
      one.ticket_url !== null && <ExternalLink href={one.ticket_url}>{one.ticket_url}</ExternalLink>,
  },
];

const Recovered = () => <span className="font-medium whitespace-nowrap text-healthy">✓ recovered</span>;

/** The test and why, and what the columns say that the page is too narrow for. */
const What = ({ path, entry: { quarantine: one, effect } }: { path: RepositoryPath; entry: Entry }) => (
  <div className="py-1.5">
    <Link
      to="/$owner/$repository/tests/$testId"
      params={{ ...path, testId: one.test_id }}
      className="block min-h-6 overflow-hidden font-medium text-ink"
      aria-label={one.test_name}
    >
      <TestName name={one.test_name} />
    </Link>
    <p className="text-xs break-words text-soft">{one.reason}</p>
    <p className="flex flex-wrap gap-x-3 text-xs text-soft empty:hidden">
      <Narrowing path={path} quarantine={one} />
    </p>
    <p className="flex flex-wrap gap-x-3 text-xs text-soft xl:hidden">
      <span className="contents lg:hidden">
        {one.is_recovered && <Recovered />}
        <span className="contents md:hidden">
          <Terms quarantine={one} />
        </span>
      </span>
      <span className="break-words">{one.branch === null ? 'every branch' : `on ${one.branch}`}</span>
      <span className="contents lg:hidden">{effect && <EffectText effect={effect} />}</span>
    </p>
  </div>
);

/** The narrowing of a quarantine; its test has the failure groups. */
function Narrowing({ path, quarantine: one }: { path: RepositoryPath; quarantine: Quarantine }) {
  const places = [one.pipeline_name, one.job_name].filter((name) => name !== null);
  const groups = one.failure_ids?.length;
  return (
    <>
      {places.length > 0 && <span>only in {places.join(' · ')}</span>}
      {one.axes !== null && <span>only where {axisScopeWords(one.axes)}</span>}
      {one.cause_id !== null ? (
        <Link to="/$owner/$repository/causes/$cause" params={{ ...path, cause: one.cause_id }}>
          only failures of a cause
        </Link>
      ) : (
        groups !== undefined && <span>only {formatCounted(groups, 'failure group')}</span>
      )}
    </>
  );
}
