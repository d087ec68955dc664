/** How the service is doing: how fast it stores results, how far behind it is, what waits, and what could not be stored. */
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ServiceState } from '../../src/operate/service-state.ts';
import { deadLettersQuery, replayDeadLetter, serviceStateQuery } from '../api/queries.ts';
import { ActionRow } from '../ui/action-row.tsx';
import { Chart } from '../ui/chart.tsx';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { Hint } from '../ui/hint.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';

const REFRESH_MS = 5_000;
const MINUTE_MS = 60_000;
/** Beyond this, people notice that results are missing. */
const LAG_SECONDS_MAX = 60;

export function State() {
  const { data, error, refetch, isPending } = useQuery({ ...serviceStateQuery, refetchInterval: REFRESH_MS });
  return (
    <div className="flex flex-col gap-5">
      {isPending && (
        <div className="card">
          <Loading rows={5} />
        </div>
      )}
      {error && (
        <div className="card">
          <Failed error={error} reset={() => void refetch()} />
        </div>
      )}
      {data && (
        <>
          <Ingest state={data} />
          <Queues state={data} />
        </>
      )}
      <DeadLetters />
    </div>
  );
}

const secondsOr = (seconds: number | null | undefined): string =>
  seconds === null || seconds === undefined ? '–' : formatSeconds(seconds);

function Ingest({ state: { ingest, stores, backlog } }: { state: ServiceState }) {
  const { executions_per_second: rate, executions_over_time: series, stored_after_seconds: after } = ingest;
  const down = Object.entries(stores).flatMap(([store, responds]) => (responds ? [] : [store]));
  const total = series.reduce((sum, { executions }) => sum + executions, 0);
  return (
    <section aria-label="Ingestion" className="card">
      {down.length > 0 && (
        <p role="alert" className="border-b border-line bg-broken-soft px-4 py-2 text-broken">
          No response from {down.join(', ')}. Uploads wait in the queue or are sent again; nothing is lost.{' '}
          <code>ci-insights doctor</code> says what is wrong.
        </p>
      )}
      <dl className="grid grid-cols-2 gap-px overflow-hidden rounded-lg bg-line lg:grid-cols-5 max-lg:[&>:last-child]:col-span-2">
        <Figure name="Stored in the last minute" note="executions a second">
          {rate === null ? '–' : formatCount(Math.round(rate * 10) / 10)}
        </Figure>
        <Figure
          name="Behind by"
          note="the oldest upload that is not shown yet"
          isBad={(ingest.lag_seconds ?? 0) > LAG_SECONDS_MAX}
        >
          {secondsOr(ingest.lag_seconds)}
        </Figure>
        <Figure name="Stored after" note={after ? `19 of 20 within ${formatSeconds(after.p95)}` : 'no uploads lately'}>
          {secondsOr(after?.median)}
        </Figure>
        <Figure name="Not evaluated" note={backlog ? `${formatCount(backlog.blocks_unstored)} not stored` : ''}>
          {backlog ? `${formatCount(backlog.blocks_unevaluated)} blocks` : '–'}
        </Figure>
        <Figure name="Events on their way" note={backlog ? `oldest ${formatSeconds(backlog.relay_lag_seconds)}` : ''}>
          {backlog ? formatCount(backlog.events_waiting) : '–'}
        </Figure>
      </dl>
      {series.length > 0 && (
        <div className="border-t border-line px-4 py-3">
          <p className="mb-2 text-xs text-soft">
            {formatCount(total)} executions stored in {series.length} minutes
          </p>
          <Chart
            label={`${formatCount(total)} executions stored, minute by minute`}
            starts={series.map(({ start }) => Date.parse(start))}
            end={Date.parse(series.at(-1)?.start ?? '') + MINUTE_MS}
            bars={[{ name: 'Executions', colour: 'text-accent', values: series.map(({ executions }) => executions) }]}
            size="low"
          />
        </div>
      )}
    </section>
  );
}

interface FigureProps {
  name: string;
  note: string;
  isBad?: boolean;
  children: ReactNode;
}

const Figure = ({ name, note, isBad = false, children }: FigureProps) => (
  <div className="bg-card px-4 py-3">
    <dt className="text-xs text-soft">{name}</dt>
    <dd className={`text-xl font-semibold tabular-nums ${isBad ? 'text-broken' : ''}`}>{children}</dd>
    <dd className="text-xs text-soft">{note}</dd>
  </div>
);

function Queues({ state: { queues } }: { state: ServiceState }) {
  return (
    <section aria-label="Queues" className="card">
      <h2 className="border-b border-line px-4 py-2 font-semibold">Queues</h2>
      {queues.length === 0 && <p className="px-4 py-3 text-broken">The store of the queues does not respond.</p>}
      {queues.length > 0 && (
        <table className="w-full text-left tabular-nums">
          <thead className="border-b border-line text-xs text-soft">
            <tr>
              <th className="px-4 py-2 font-medium">Queue</th>
              {COLUMNS.map(([name, className]) => (
                <th key={name} className={`px-2 py-2 text-right font-medium last:pr-4 sm:px-4 ${className}`}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {queues.map((queue) => (
              <tr key={queue.name} className="border-b border-line last:border-0">
                <td className="px-4 py-2 font-medium">{queue.name}</td>
                <Cell>{formatCount(queue.waiting)}</Cell>
                <Cell className={NARROW}>{formatCount(queue.active)}</Cell>
                <Cell className={NARROW}>{formatCount(queue.delayed)}</Cell>
                <Cell>
                  {queue.failed > 0 ? (
                    <Hint
                      text="ci-insights dead-letters retry-failed puts them back"
                      className="font-medium text-broken"
                    >
                      {formatCount(queue.failed)}
                    </Hint>
                  ) : (
                    0
                  )}
                </Cell>
                <Cell className={NARROW}>{formatSeconds(queue.lag_seconds)}</Cell>
                <Cell>{drainOf(queue)}</Cell>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const NARROW = 'max-sm:hidden';
const COLUMNS = [
  ['Waiting', ''],
  ['In hand', NARROW],
  ['To be tried again', NARROW],
  ['Failed', ''],
  ['Oldest', NARROW],
  ['Empty in', ''],
] as const;

const Cell = ({ children, className = '' }: { children: ReactNode; className?: string }) => (
  <td className={`px-2 py-2 text-right last:pr-4 sm:px-4 ${className}`}>{children}</td>
);

function drainOf({ drain_seconds: seconds, is_stalled: isStalled }: ServiceState['queues'][number]): ReactNode {
  if (isStalled) return <span className="text-broken">gets no shorter</span>;
  if (seconds === 0) return 'empty';
  return secondsOr(seconds);
}

/** Shown only when there are any. */
function DeadLetters() {
  const { data, error, refetch } = useQuery({ ...deadLettersQuery, refetchInterval: REFRESH_MS });
  if (error)
    return (
      <div className="card">
        <Failed error={error} reset={() => void refetch()} />
      </div>
    );
  if (!data || data.total === 0) return null;
  const { dead_letters: letters, total } = data;
  return (
    <section aria-label="Dead letters" className="card">
      <h2 className="border-b border-line px-4 py-2 font-semibold">Dead letters: {formatCount(total)}</h2>
      <p className="border-b border-line px-4 py-2 text-soft">
        Jobs that no retry can help. Remove the cause, then replay them.
        {total > letters.length && ` The oldest ${letters.length} are shown; the command dead-letters has all.`}
      </p>
      <ul>
        {letters.map((letter) => (
          <ActionRow
            key={letter.id}
            title={`${letter.queue} ${letter.job_id}`}
            about={letter.reason}
            verb="Replay"
            act={() => replayDeadLetter(letter.id)}
            queryKey={deadLettersQuery.queryKey}
          >
            since <Time at={letter.created_at} />
          </ActionRow>
        ))}
      </ul>
    </section>
  );
}
