/** Checks the queues, their backlog, and Redis if they are there. */

import type { Queue } from 'bullmq';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import type { QueueBackend } from '../../queue/backend.ts';
import { type QueueBacklog, readQueueBacklog, waitingIn } from '../../queue/backlog.ts';
import { DrainEstimate } from '../../queue/drain.ts';
import { jobKinds } from '../../queue/kinds.ts';
import { openQueues } from '../../queue/open.ts';
import { type Finding, inTime, ok, problem, reasonOf, tlsRemedy, warning } from './finding.ts';
import { clockFinding, evictionFinding, lagFinding, persistenceFinding, versionFinding } from './rules.ts';

/** @param databaseUrl of the PostgreSQL that holds the queues unless they are on Redis */
export async function checkQueue(config: Config, databaseUrl: string): Promise<Finding[]> {
  const variable = config.redisUrl ? 'REDIS_URL' : config.databaseDirectUrl ? 'DATABASE_DIRECT_URL' : 'DATABASE_URL';
  let backend: QueueBackend | undefined;
  const queues: Queue[] = [];
  // The connection says why. The exception says only that there is none.
  let heard: Error | undefined;
  try {
    const onError = (error: Error): void => {
      heard = error;
    };
    const opened = await inTime(() => openQueues(config, databaseUrl, onError));
    backend = opened;
    queues.push(...jobKinds.map(({ name }) => opened.queue(name)));
    const store = await inTime(async () => [
      ok('Queue', `It responds, on ${opened.kind === 'redis' ? 'Redis' : 'PostgreSQL'}.`),
      ...(opened.kind === 'redis' && queues[0] ? await checkRedis(queues[0]) : []),
    ]);
    return [...store, ...(await Promise.all(queues.map(backlogOf))).flat()];
  } catch (thrown) {
    const error = heard ?? thrown;
    const cause = tlsRemedy(error) ?? `Check that it is running and that ${variable} is correct.`;
    const remedy = `${cause} Until then uploads are refused.`;
    return [problem('Queue', `It is not usable: ${reasonOf(error)}.`, remedy)];
  } finally {
    await Promise.all(queues.map((queue) => queue.close().catch(() => {})));
    await backend?.close().catch(() => {});
  }
}

async function backlogOf(queue: Queue): Promise<Finding[]> {
  const backlog = await readInTime(queue);
  const { jobs, lagSeconds } = backlog;
  const waiting = (jobs.waiting ?? 0) + (jobs.delayed ?? 0);
  const failed = jobs.failed ?? 0;
  const remedy =
    'Check that a worker is running (`ci-insights worker`), and read its log. More workers share the work.';
  return [
    lagFinding(`Queue ${queue.name}`, 'job', waiting, lagSeconds, remedy, await drainOf(queue, waitingIn(backlog))),
    ...(failed === 0
      ? []
      : [
          warning(
            `Queue ${queue.name} failed`,
            `${failed} jobs ran out of attempts; they are kept.`,
            'Fix the cause, then run `ci-insights dead-letters retry-failed`.',
          ),
        ]),
  ];
}

const readInTime = (queue: Queue): Promise<QueueBacklog> => inTime(() => readQueueBacklog(queue, systemClock.now()));

/** How long the doctor watches a backlog, and if nothing changes: jobs end in bursts, with the block that stores them. */
const WATCH_MS = 2_000;
const WATCH_MS_MAX = 10_000;
/** Fewer are done before anyone has read the answer. */
const WATCHED_MIN = 100;

async function drainOf(queue: Queue, waiting: number): Promise<number | undefined> {
  if (waiting < WATCHED_MIN) return undefined;
  const drain = new DrainEstimate();
  const startedAt = systemClock.now();
  drain.observe(startedAt, waiting);
  for (;;) {
    await Bun.sleep(WATCH_MS);
    const now = systemClock.now();
    const seconds = drain.observe(now, waitingIn(await readInTime(queue)));
    if (seconds !== Number.POSITIVE_INFINITY || now - startedAt >= WATCH_MS_MAX) return seconds;
  }
}

async function checkRedis(queue: Queue): Promise<Finding[]> {
  const client = await queue.getBackend().client;
  const info = await client.info();
  const value = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const microseconds = Number(value('server_time_usec'));
  return [
    versionFinding('Redis', value('redis_version')),
    evictionFinding(value('maxmemory_policy')),
    persistenceFinding(value('aof_enabled') === '1'),
    // Since Redis 7.
    ...(microseconds > 0 ? [clockFinding('Redis', microseconds / 1_000 - systemClock.now())] : []),
    ...(value('role') === 'slave'
      ? [problem('Redis role', 'It is a read-only replica.', 'Point REDIS_URL at the primary.')]
      : []),
  ];
}
