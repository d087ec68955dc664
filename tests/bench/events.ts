/** The log of a repository with many events: how fast the service counts them over windows of several lengths. */
import { ownerOf, repositoryName } from './data.ts';
import type { BenchService } from './service.ts';

const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
/** About what a queue and its checks write in three months. */
export const EVENTS = 200_000;
const DAYS = 90;
const POLL_MS = 50;
const PATHS = 500;

export const WINDOWS_DAYS = [1, 7, 90] as const;
export type WindowDays = (typeof WINDOWS_DAYS)[number];

/** Writes events as changes in the service do, and returns when the log has them. The newest is a minute before `now`. */
export async function fillLog(service: BenchService, now: number, events: number): Promise<void> {
  await service.rows(
    `insert into ci_insights.event_outbox (repository_id, received_at, written_at, type, trigger, pull_request, base_ref,
       outcome, metadata)
     select r.id, to_timestamp($1::float8 / 1000) - (($3 - n) * ($2::float8 / $3) || ' milliseconds')::interval, now(),
       (array['action.label', 'action.queue.enter', 'action.queue.checks_end', 'action.merge'])[1 + n % 4],
       '@user-' || n % 300, 1 + n % 20000, 'main', (array['neutral', 'pending', 'success', 'success'])[1 + n % 4],
       json_build_object('queue_name', 'default', 'branch', 'main', 'reason', repeat('y', 200),
         'speculative_check_pull_request', json_build_object('checks_conclusion', 'success',
           'pull_request_numbers', json_build_array(n % 20000, n % 7)))::text
     from ci_insights.repositories r, generate_series(1, $3::int) as n
     where r.owner = $4 and r.name = $5 order by n`,
    [now - MINUTE_MS, DAYS * DAY_MS, events, ownerOf, repositoryName(0)],
  );
  while (
    Number((await service.rows<{ left: string }>('select count(*) as left from ci_insights.event_outbox'))[0]?.left)
  )
    await Bun.sleep(POLL_MS);
}

/** Windows of some days that all end at another moment. */
export const countPathsOf = (days: WindowDays, now: number): string[] =>
  Array.from({ length: PATHS }, (_, i) => {
    const end = now - i * MINUTE_MS;
    const window = `received_from=${new Date(end - days * DAY_MS).toISOString()}&received_to=${new Date(end).toISOString()}`;
    return `/v1/repos/${ownerOf}/${repositoryName(0)}/logs/aggregate?${window}`;
  });
