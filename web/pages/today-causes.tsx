/** The causes that cost most this week. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Costs } from '../../src/insights/cost.ts';
import { costQuery, type RepositoryPath } from '../api/queries.ts';
import { formatCounted, formatSeconds, formatShares } from '../ui/format.ts';
import { useDaysUpToNow } from '../ui/long-window.ts';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';

const SHOWN = 5;
const REFETCH_MS = 60_000;

export function CostlyCauses({ path }: { path: RepositoryPath }) {
  const window = useDaysUpToNow('7');
  const found = useInfiniteQuery({
    ...costQuery(path, { ...window, sort: 'red_runs', by: 'cause' }),
    refetchInterval: REFETCH_MS,
  });
  const causes = found.data?.pages[0]?.body.causes.filter((one) => one.cause_id !== null) ?? [];
  return (
    <Section title="Costliest causes" aside="in the last 7 days">
      {found.isPending && <Loading rows={5} />}
      {found.error && <Failed error={found.error} reset={() => void found.refetch()} />}
      {found.isSuccess && causes.length === 0 && <p className="px-4 py-2 text-soft">None: no run was red by one.</p>}
      <ul>
        {causes.slice(0, SHOWN).map((one) => (
          <Row key={one.cause_id} path={path} one={one} />
        ))}
      </ul>
      {causes.length > SHOWN && (
        <p className="border-t border-line px-4 py-2 text-xs">
          <Link
            to="/$owner/$repository/cost"
            params={path}
            search={{ days: '7', by: 'cause' }}
            className="inline-block py-1 underline"
          >
            All causes by cost
          </Link>
        </p>
      )}
    </Section>
  );
}

const Row = ({ path, one }: { path: RepositoryPath; one: Costs['causes'][number] }) => (
  <li className="border-b border-line px-4 py-2 last:border-0">
    <Link
      to="/$owner/$repository/causes/$cause"
      params={{ ...path, cause: one.cause_id ?? '' }}
      className="line-clamp-2 min-h-6 break-words text-ink"
    >
      {one.exception_message || one.exception_type || 'No message'}
    </Link>
    <p className="text-xs text-soft">
      {formatShares(one.red_runs)} red runs · {formatCounted(one.pull_requests, 'pull request')} ·{' '}
      {formatSeconds(60 * one.rerun_minutes)} of CI · waited {formatSeconds(3_600 * one.waiting_hours)}
    </p>
  </li>
);
