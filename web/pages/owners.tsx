/** Who owns the tests of a repository, what each owner has to do, and what has no owner. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { OwnerList } from '../../src/insights/owners.ts';
import { ownersQuery, type RepositoryPath } from '../api/queries.ts';
import { formatCount, formatCounted, formatShare } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Empty, Failed, NotYet } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { FirstReport } from './first-report.tsx';

const route = getRouteApi('/signed/$owner/$repository/owners');

type Totals = OwnerList['unowned'];

export function Owners() {
  const path = route.useParams();
  useTitle(`Owners in ${path.owner}/${path.repository}`);
  const found = useInfiniteQuery(ownersQuery(path));
  const { owner, repository } = path;
  const columns = useMemo(() => columnsOf({ owner, repository }), [owner, repository]);
  const first = found.data?.pages[0]?.body;
  const rows = useMemo(() => rowsOf(found.data?.pages.map(({ body }) => body) ?? []), [found.data]);
  if (!first) return <NotYet title="Owners" error={found.error} reset={() => void found.refetch()} />;
  if (first.tests === 0) return <FirstReport {...path} />;
  return (
    <div className="flex flex-col gap-5">
      <header>
        <h1 className="text-lg font-semibold">Owners</h1>
        <p className="text-soft">{coverage(first)}</p>
      </header>
      {first.total > 0 && (
        <Section title="By owner">
          <Table
            label="Owners"
            noun="owner"
            columns={columns}
            rows={rows}
            keyOf={({ owner }) => owner ?? ''}
            isWhole={!found.hasNextPage}
            {...(!found.hasNextPage && { first: FIRST })}
          />
          {found.isFetchNextPageError && <Failed error={found.error} reset={() => void found.fetchNextPage()} />}
          {found.hasNextPage && (
            <div className="flex justify-center border-t border-line p-3">
              <button
                type="button"
                className="button"
                disabled={found.isFetching}
                onClick={() => void found.fetchNextPage()}
              >
                {found.isFetchingNextPage ? 'Loading …' : 'More owners'}
              </button>
            </div>
          )}
        </Section>
      )}
      {first.unmatched_total > 0 && <Unmatched list={first} />}
      {!first.has_codeowners && <HowToSend path={path} hasOwners={first.total > 0} />}
    </div>
  );
}

/** Tests without an owner come last, once all owners are there. */
const rowsOf = (pages: readonly OwnerList[]): readonly OwnerRow[] => {
  const owners: OwnerRow[] = pages.flatMap((page) => page.owners);
  const [first] = pages;
  return first && first.unowned.tests > 0 ? [...owners, { owner: null, ...first.unowned }] : owners;
};

const coverage = ({ tests, owned_tests: owned }: OwnerList): string =>
  owned === tests
    ? `All ${formatCounted(tests, 'test')} have an owner.`
    : `${formatCount(owned)} of ${formatCounted(tests, 'test')} (${formatShare(owned / tests)}) have an owner, ${formatCount(tests - owned)} have none.`;

/** A row of the table; the owner of those that have none is null. */
type OwnerRow = Totals & { owner: string | null };

const FIRST = { id: 'broken', direction: 'desc' } as const;

const columnsOf = (path: RepositoryPath): readonly Column<OwnerRow>[] => [
  {
    id: 'owner',
    head: 'Owner',
    isText: true,
    sorts: ['asc', 'desc'],
    value: ({ owner }) => owner,
    cell: ({ owner }) => (
      <Link
        to="/$owner/$repository/tests"
        params={path}
        search={owner === null ? { unowned: true } : { ownedBy: owner }}
        className={owner === null ? 'text-soft' : 'block min-h-6 font-medium break-words text-ink'}
      >
        {owner ?? 'No owner'}
      </Link>
    ),
  },
  {
    id: 'tests',
    head: 'Tests',
    width: 'w-16 sm:w-24',
    sorts: ['desc', 'asc'],
    value: ({ tests }) => tests,
    cell: ({ tests }) => formatCount(tests),
  },
  {
    id: 'broken',
    head: 'Broken',
    width: 'w-16 sm:w-24',
    sorts: ['desc', 'asc'],
    value: ({ broken_tests: broken }) => broken,
    cell: ({ broken_tests: broken }) => <Count value={broken} colour="text-broken" />,
  },
  {
    id: 'flaky',
    head: 'Flaky',
    width: 'w-14 sm:w-24',
    sorts: ['desc', 'asc'],
    value: ({ flaky_tests: flaky }) => flaky,
    cell: ({ flaky_tests: flaky }) => <Count value={flaky} colour="text-flaky" />,
  },
  {
    id: 'quarantined',
    head: 'Quarantined',
    width: 'w-28 max-sm:hidden',
    sorts: ['desc', 'asc'],
    value: ({ quarantined_tests: quarantined }) => quarantined,
    cell: ({ quarantined_tests: quarantined }) => formatCount(quarantined),
  },
  {
    id: 'last_failure',
    head: 'Last failure',
    width: 'w-36 max-md:hidden',
    sorts: ['desc', 'asc'],
    value: ({ last_failure_at: at }) => at,
    cell: ({ last_failure_at: at }) => <span className="text-soft">{at === null ? '–' : <Time at={at} />}</span>,
  },
];

const Count = ({ value, colour }: { value: number; colour: string }) => (
  <span className={value === 0 ? 'text-soft' : `font-medium ${colour}`}>{formatCount(value)}</span>
);

function Unmatched({ list: { unmatched_total: total, unmatched_patterns: patterns } }: { list: OwnerList }) {
  return (
    <Section
      title="Patterns that match no test"
      aside={total > patterns.length ? `the first ${formatCount(patterns.length)} of ${formatCount(total)}` : undefined}
    >
      <ul className="divide-y divide-line">
        {patterns.map(({ line, pattern, owners }) => (
          <li key={line} className="flex flex-wrap items-baseline gap-x-3 px-4 py-2">
            <span className="text-xs text-soft tabular-nums">line {formatCount(line)}</span>
            <code className="min-w-0 font-mono break-all">{pattern}</code>
            <span className="min-w-0 break-all text-soft">{owners.length === 0 ? 'no owner' : owners.join(', ')}</span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

const HowToSend = ({ path, hasOwners }: { path: RepositoryPath; hasOwners: boolean }) => (
  <Section title={hasOwners ? 'No CODEOWNERS file was sent' : 'How to say who owns tests'}>
    <Empty title="Send CODEOWNERS">
      <p>
        <code>ci-insights push</code> sends the file with the reports, from jobs of the default branch. Keep it in{' '}
        <code>.github</code>, <code>.gitlab</code>, <code>docs</code> or the root of{' '}
        <span className="break-all">
          {path.owner}/{path.repository}
        </span>
        . Rules of the repository’s settings say the same without a file.
      </p>
    </Empty>
  </Section>
);
