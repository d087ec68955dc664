/** Events of a repository's pull requests, quarantines and settings, the newest first. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import type { EventCounts } from '../../src/events/aggregate.ts';
import type { EventLog } from '../../src/events/event.ts';
import { eventCountsQuery, logQuery, type RepositoryPath } from '../api/queries.ts';
import { Chart } from '../ui/chart.tsx';
import { Choice } from '../ui/choice.tsx';
import { formatCount, formatCounted } from '../ui/format.ts';
import { PagedList } from '../ui/paged-list.tsx';
import { Pull } from '../ui/pull.tsx';
import { Empty } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { Unfolding } from '../ui/unfolding.tsx';

const route = getRouteApi('/signed/$owner/$repository/events');
const DAY_MS = 86_400_000;
const FOLLOW_MS = 2_000;

const OUTCOMES = ['success', 'failure', 'pending', 'neutral'] as const;
const WINDOWS = [
  ['1', 'Last 24 hours'],
  ['7', 'Last 7 days'],
  ['30', 'Last 30 days'],
  ['90', 'Last 90 days'],
] as const;

type Event = EventLog['events'][number];

export function Events() {
  const path = route.useParams();
  const { type, outcome, trigger, pull, days = '7', follow = false } = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(`Event log of ${path.owner}/${path.repository}`);
  const since = useMemo(() => new Date(Date.now() - Number(days) * DAY_MS).toISOString(), [days]);
  const filters = { event_type: type, outcome, trigger, pull_request: pull, received_from: since };
  const refetchInterval = follow ? FOLLOW_MS : (false as const);
  const found = useInfiniteQuery({
    ...logQuery(path, filters),
    refetchInterval,
    placeholderData: (before) => before,
  });
  const { data: counts } = useQuery({ ...eventCountsQuery(path, filters), refetchInterval });
  // The choices do not depend on the choice.
  const { data: all } = useQuery(eventCountsQuery(path, { received_from: since }));
  const change = (changes: Partial<ReturnType<typeof route.useSearch>>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true });
  const events = found.data?.pages.flatMap(({ body }) => body.events) ?? [];
  return (
    <>
      <h1 className="sr-only">Event log</h1>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <Choice
          label="Type of event"
          value={type}
          options={optionsOf('Every type', all?.by_event_type, type)}
          onChoose={(chosen) => change({ type: chosen })}
        />
        <Choice
          label="Outcome"
          value={outcome}
          options={optionsOf('Every outcome', all?.by_outcome, outcome)}
          onChoose={(chosen) => change({ outcome: OUTCOMES.find((one) => one === chosen) })}
        />
        <Choice
          label="Trigger"
          value={trigger}
          options={optionsOf('By anyone', all?.by_trigger, trigger)}
          onChoose={(chosen) => change({ trigger: chosen })}
        />
        <input
          type="text"
          inputMode="numeric"
          pattern="[0-9]*"
          aria-label="Number of the pull request"
          placeholder="Pull request"
          className="field w-32"
          value={pull ?? ''}
          onChange={(event) => change({ pull: event.target.value.replace(/\D/g, '') || undefined })}
        />
        <Choice label="Window" value={days} options={WINDOWS} onChoose={(chosen) => change({ days: chosen })} />
        <button
          type="button"
          aria-pressed={follow}
          className="button ml-auto aria-pressed:border-accent aria-pressed:bg-accent aria-pressed:text-white"
          onClick={() => change({ follow: follow ? undefined : true })}
        >
          {follow ? '● Following' : 'Follow'}
        </button>
      </div>
      <div className="card overflow-hidden">
        {(!found.data || events.length > 0) && <Histogram counts={counts} />}
        <PagedList
          found={found}
          rows={events}
          older="Older events"
          empty={
            <Empty title="Nothing happened in this window">
              <p>The log has what webhooks and producers send, and every change of quarantines and settings.</p>
            </Empty>
          }
        >
          {(event) => (
            <Row key={event.id} path={path} event={event} onPull={(number) => change({ pull: String(number) })} />
          )}
        </PagedList>
      </div>
    </>
  );
}

/** Values with how often each occurs; the chosen one is there even if it does not. */
function optionsOf(
  every: string,
  counted: readonly { value: string; count: number }[] = [],
  chosen: string | undefined,
): [string | undefined, string][] {
  const options = counted.map(({ value, count }): [string, string] => [value, `${value} (${formatCount(count)})`]);
  const isListed = chosen === undefined || counted.some(({ value }) => value === chosen);
  return [[undefined, every], ...(isListed ? [] : [[chosen, chosen] as [string, string]]), ...options];
}

/** While there are no counts, the space that it will take. */
function Histogram({ counts }: { counts: EventCounts | undefined }) {
  if (!counts?.total) return <div className="h-48 border-b border-line" />;
  const { total, histogram } = counts;
  return (
    <div className="border-b border-line px-4 py-3">
      <p className="mb-2 text-xs text-soft">{formatCounted(total, 'event')}</p>
      <Chart
        label={`${formatCounted(total, 'event')} over time`}
        starts={histogram.map(({ start }) => Date.parse(start))}
        end={Date.parse(histogram.at(-1)?.end ?? '')}
        bars={[{ name: 'Events', colour: 'text-accent', values: histogram.map(({ count }) => count) }]}
        size="low"
      />
    </div>
  );
}

interface RowProps {
  path: RepositoryPath;
  event: Event;
  onPull: (number: number) => void;
}

function Row({ path, event, onPull }: RowProps) {
  const known = Object.entries(event.metadata).filter(([, value]) => value !== null && value !== undefined);
  return (
    <li className="border-b border-line last:border-0">
      <Unfolding
        grid="grid grid-cols-[minmax(0,1fr)_7rem] items-baseline gap-x-3 sm:grid-cols-[15rem_minmax(0,1fr)_8rem_7rem]"
        summary={
          <>
            <span className="truncate font-medium">
              {event.type}
              {event.outcome === 'failure' && <span className="text-broken"> failure</span>}
            </span>
            <span className="truncate text-soft max-sm:col-span-2 max-sm:row-start-2">
              {event.pull_request !== null && `#${event.pull_request} `}
              {summaryOf(known)}
            </span>
            <span className="truncate text-soft max-sm:hidden">{event.trigger}</span>
            <span className="text-right text-soft">
              <Time at={event.received_at} />
            </span>
          </>
        }
      >
        {() => (
          <div className="px-4 pb-3">
            <dl className="grid grid-cols-[8rem_minmax(0,1fr)] gap-x-4 gap-y-1 rounded-md bg-raised p-3 text-xs">
              <Field name="received at">
                <Time at={event.received_at} isWhole />
              </Field>
              <Field name="trigger">{event.trigger}</Field>
              {event.pull_request !== null && (
                <Field name="pull request">
                  <Pull path={path} number={event.pull_request} />
                  {event.base_ref !== null && ` into ${event.base_ref}`} ·{' '}
                  <button type="button" className="text-link" onClick={() => onPull(event.pull_request ?? 0)}>
                    only its events
                  </button>
                </Field>
              )}
              {known.map(([name, value]) => (
                <Field key={name} name={name.replaceAll('_', ' ')}>
                  {isMoment(name, value) ? <Time at={value} isWhole /> : textOf(value)}
                </Field>
              ))}
            </dl>
          </div>
        )}
      </Unfolding>
    </li>
  );
}

const Field = ({ name, children }: { name: string; children: ReactNode }) => (
  <>
    <dt className="text-soft">{name}</dt>
    <dd className="break-words whitespace-pre-wrap">{children}</dd>
  </>
);

const isMoment = (name: string, value: unknown): value is string =>
  name.endsWith('_at') && typeof value === 'string' && !Number.isNaN(Date.parse(value));
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The values that say most, on one line. */
const summaryOf = (known: readonly (readonly [string, unknown])[]): string =>
  known
    .filter(([name]) => !/(^|_)(id|at)$/.test(name))
    .flatMap(([name, value]) => {
      if (typeof value === 'boolean') return value ? name : `not ${name}`;
      return Array.isArray(value) ? value : [value];
    })
    .filter((value) => typeof value !== 'object')
    .map(textOf)
    .join(' · ');
