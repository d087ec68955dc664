/** Who owns the tests of a repository, what each owner has to do, and what has no owner. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { OwnerList } from '../../src/insights/owners.ts';
import { ownersQuery, type RepositoryPath } from '../api/queries.ts';
import { formatCount, formatCounted, formatShare } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Empty, Failed, NotYet } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { FirstReport } from './first-report.tsx';

const route = getRouteApi('/signed/$owner/$repository/owners');

type Totals = OwnerList['unowned'];

export function Owners() {
  const path = route.useParams();
  useTitle(`Owners in ${path.owner}/${path.repository}`);
  const found = useInfiniteQuery(ownersQuery(path));
  const first = found.data?.pages[0]?.body;
  if (!first) return <NotYet title="Owners" error={found.error} reset={() => void found.refetch()} />;
  if (first.tests === 0) return <FirstReport {...path} />;
  const owners = found.data?.pages.flatMap(({ body }) => body.owners) ?? [];
  return (
    <div className="flex flex-col gap-5">
      <header>
        <h1 className="text-lg font-semibold">Owners</h1>
        <p className="text-soft">{coverage(first)}</p>
      </header>
      {owners.length > 0 && (
        <Section title={formatCounted(first.total, 'owner')}>
          <Table>
            {owners.map(({ owner, ...totals }) => (
              <Row key={owner} totals={totals}>
                <Link
                  to="/$owner/$repository/tests"
                  params={path}
                  search={{ ownedBy: owner }}
                  className="block truncate font-medium text-ink"
                >
                  {owner}
                </Link>
              </Row>
            ))}
            {first.unowned.tests > 0 && (
              <Row totals={first.unowned}>
                <Link to="/$owner/$repository/tests" params={path} search={{ unowned: true }} className="text-soft">
                  No owner
                </Link>
              </Row>
            )}
          </Table>
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
      {!first.has_codeowners && <HowToSend path={path} hasOwners={owners.length > 0} />}
    </div>
  );
}

const coverage = ({ tests, owned_tests: owned }: OwnerList): string =>
  owned === tests
    ? `All ${formatCounted(tests, 'test')} have an owner.`
    : `${formatCount(owned)} of ${formatCounted(tests, 'test')} (${formatShare(owned / tests)}) have an owner, ${formatCount(tests - owned)} have none.`;

const NUMBER = 'px-2 py-2 text-right tabular-nums';

const Table = ({ children }: { children: ReactNode }) => (
  <table className="w-full table-fixed">
    <thead className="text-xs text-soft">
      <tr>
        <th scope="col" className="px-4 py-2 text-left font-normal">
          Owner
        </th>
        <th scope="col" className={`${NUMBER} w-16 font-normal sm:w-24`}>
          Tests
        </th>
        <th scope="col" className={`${NUMBER} w-16 font-normal sm:w-24`}>
          Broken
        </th>
        <th scope="col" className={`${NUMBER} w-14 font-normal sm:w-24`}>
          Flaky
        </th>
        <th scope="col" className={`${NUMBER} w-28 font-normal max-sm:hidden`}>
          Quarantined
        </th>
        <th scope="col" className={`${NUMBER} w-32 pr-4 font-normal max-md:hidden`}>
          Last failure
        </th>
      </tr>
    </thead>
    <tbody>{children}</tbody>
  </table>
);

const Row = ({ totals, children }: { totals: Totals; children: ReactNode }) => (
  <tr className="border-t border-line">
    <th scope="row" className="min-w-0 px-4 py-2 text-left font-normal">
      {children}
    </th>
    <td className={NUMBER}>{formatCount(totals.tests)}</td>
    <Count value={totals.broken_tests} colour="text-broken" />
    <Count value={totals.flaky_tests} colour="text-flaky" />
    <td className={`${NUMBER} max-sm:hidden`}>{formatCount(totals.quarantined_tests)}</td>
    <td className={`${NUMBER} pr-4 text-soft max-md:hidden`}>
      {totals.last_failure_at === null ? '–' : <Time at={totals.last_failure_at} />}
    </td>
  </tr>
);

const Count = ({ value, colour }: { value: number; colour: string }) => (
  <td className={`${NUMBER} ${value === 0 ? 'text-soft' : `font-medium ${colour}`}`}>{formatCount(value)}</td>
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
