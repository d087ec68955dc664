/** The backtests of a repository that were asked for, with their results. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { BacktestList } from '../../src/quarantines/backtests.ts';
import { backtestsQuery, type RepositoryPath } from '../api/queries.ts';
import { Section } from '../ui/section.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { policyInWords } from './backtest-policy.ts';

type Listed = BacktestList['backtests'][number];

const REFETCH_MS = 5_000;
const FIRST = { id: 'requested', direction: 'desc' } as const;

/** @param open the id of the one that the page shows */
export function Backtests({ path: { owner, repository }, open }: { path: RepositoryPath; open: string | undefined }) {
  const found = useQuery({
    ...backtestsQuery({ owner, repository }),
    refetchInterval: ({ state }) =>
      state.data?.backtests.some(({ status }) => status === 'running') ? REFETCH_MS : false,
  });
  const columns = useMemo(() => columnsOf({ owner, repository }, open), [owner, repository, open]);
  const rows = found.data?.backtests;
  return (
    <Section title="Backtests so far">
      {found.isPending && <Loading rows={3} />}
      {found.error && <Failed error={found.error} reset={() => void found.refetch()} />}
      {rows?.length === 0 && (
        <Empty title="No backtest was asked for">
          <p>Those of the last thirty days are kept, for everyone who may read.</p>
        </Empty>
      )}
      {rows && rows.length > 0 && (
        <Table
          label="Backtests"
          noun="backtest"
          columns={columns}
          rows={rows}
          keyOf={({ id }) => id}
          first={FIRST}
          isWhole
        />
      )}
    </Section>
  );
}

function resultOf({ status, summary }: Listed): string {
  if (status === 'running') return 'It runs.';
  return summary ?? 'It failed.';
}

const columnsOf = (path: RepositoryPath, open: string | undefined): readonly Column<Listed>[] => [
  {
    id: 'policy',
    head: 'Policy',
    isText: true,
    width: 'min-w-48',
    sorts: ['asc', 'desc'],
    value: ({ policy }) => policyInWords(policy),
    cell: (one) => {
      const { id, policy } = one;
      return (
        <>
          <Link
            to="/$owner/$repository/quarantines/backtest"
            params={path}
            search={(others) => ({ ...others, id })}
            resetScroll={false}
            className="block min-h-6 font-medium text-ink"
            aria-current={id === open ? 'true' : undefined}
          >
            {policyInWords(policy)}
            {id === open && <span className="font-normal text-soft"> · shown</span>}
          </Link>
          <span className="block text-soft sm:hidden">{resultOf(one)}</span>
        </>
      );
    },
  },
  {
    id: 'result',
    head: 'Result',
    isText: true,
    width: 'min-w-56 max-sm:hidden',
    value: resultOf,
  },
  {
    id: 'by',
    head: 'By',
    isText: true,
    width: 'max-w-40 max-sm:hidden',
    sorts: ['asc', 'desc'],
    value: ({ requested_by: by }) => by,
    cell: ({ requested_by: by }) => <span className="break-words text-soft">{by}</span>,
  },
  {
    id: 'requested',
    head: 'Asked',
    sorts: ['desc', 'asc'],
    value: ({ requested_at: at }) => at,
    cell: ({ requested_at: at }) => (
      <span className="text-soft">
        <Time at={at} />
      </span>
    ),
  },
];
