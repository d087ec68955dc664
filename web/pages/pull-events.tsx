/** The newest events of a pull request, with the way to all of them. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { RepositoryPath } from '../api/queries.ts';
import { PULL_EVENTS_DAYS, pullEventsQuery } from '../api/views.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

const SHOWN = 20;

export function PullEvents({ path, number }: { path: RepositoryPath; number: number }) {
  const found = useInfiniteQuery({ ...pullEventsQuery(path, number, Date.now()), refetchInterval: 15_000 });
  const events = found.data?.pages.flatMap(({ body }) => body.events) ?? [];
  return (
    <section aria-label="Events" className="card min-w-0">
      <div className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-2">
        <h2 className="font-semibold">
          Events <span className="font-normal text-soft">of the last {PULL_EVENTS_DAYS} days</span>
        </h2>
        <Link
          to="/$owner/$repository/events"
          params={path}
          search={{ pull: String(number), days: PULL_EVENTS_DAYS }}
          className="ml-auto"
        >
          In the event log
        </Link>
      </div>
      {found.isPending && <Loading rows={4} />}
      {found.error && !found.data && <Failed error={found.error} reset={() => void found.refetch()} />}
      {found.data && events.length === 0 && (
        <p className="px-4 py-3 text-soft">None. The host sends them with webhooks.</p>
      )}
      <ol>
        {events.slice(0, SHOWN).map((event) => (
          <li
            key={event.id}
            className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-2 last:border-0"
          >
            <span className="font-medium">{event.type}</span>
            {event.outcome === 'failure' && <span className="text-broken">failure</span>}
            <span className="ml-auto truncate text-soft">
              {event.trigger}, <Time at={event.received_at} />
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
