/** Looks at the queue and at what waits in it, and at Redis where it is on Redis. */

import type { Queue } from 'bullmq';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config.ts';
import type { QueueBackend } from '../../queue/backend.ts';
import { readQueueBacklog } from '../../queue/backlog.ts';
import { jobKinds } from '../../queue/kinds.ts';
import { openQueues } from '../../queue/open.ts';
import { type Finding, inTime, ok, problem, reasonOf, warning } from './finding.ts';
import { clockFinding, evictionFinding, lagFinding, persistenceFinding, versionFinding } from './rules.ts';

/** @param databaseUrl Of the PostgreSQL that holds the queue where there is no Redis. */
export async function lookAtQueue(config: Config, databaseUrl: string): Promise<Finding[]> {
  const where = config.redisUrl ? 'REDIS_URL' : 'DATABASE_URL';
  let backend: QueueBackend | undefined;
  const queues: Queue[] = [];
  try {
    // It tells the same by an exception; a listener keeps it from ending the process.
    const onError = (): void => {};
    const opened = await inTime(() => openQueues(config, databaseUrl, onError));
    backend = opened;
    queues.push(...jobKinds.map(({ name }) => opened.queue(name)));
    return await inTime(async () => [
      ok('Queue', `It answers, on ${opened.kind === 'redis' ? 'Redis' : 'PostgreSQL'}.`),
      ...(opened.kind === 'redis' && queues[0] ? await lookAtRedis(queues[0]) : []),
      ...(await Promise.all(queues.map(backlogOf))).flat(),
    ]);
  } catch (error) {
    const remedy = `Look whether it runs, and whether ${where} is right. Uploads are refused meanwhile.`;
    return [problem('Queue', `It cannot be used: ${reasonOf(error)}.`, remedy)];
  } finally {
    await Promise.all(queues.map((queue) => queue.close().catch(() => {})));
    await backend?.close().catch(() => {});
  }
}

async function backlogOf(queue: Queue): Promise<Finding[]> {
  const { jobs, lagSeconds } = await readQueueBacklog(queue, systemClock.now());
  const waiting = (jobs.waiting ?? 0) + (jobs.delayed ?? 0);
  const failed = jobs.failed ?? 0;
  const remedy =
    'Look whether a worker runs (`ci-insights worker`) and what its log says; more workers share the work.';
  return [
    lagFinding(`Queue ${queue.name}`, 'job', waiting, lagSeconds, remedy),
    ...(failed === 0
      ? []
      : [
          warning(
            `Queue ${queue.name} failed`,
            `${failed} jobs are out of tries; they are kept.`,
            'Once what was wrong is mended: `ci-insights dead-letters retry-failed`.',
          ),
        ]),
  ];
}

async function lookAtRedis(queue: Queue): Promise<Finding[]> {
  const client = await queue.getBackend().client;
  const info = await client.info();
  const value = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? '';
  const microseconds = Number(value('server_time_usec'));
  return [
    versionFinding('Redis', value('redis_version')),
    evictionFinding(value('maxmemory_policy')),
    persistenceFinding(value('aof_enabled') === '1'),
    // Since version 7.
    ...(microseconds > 0 ? [clockFinding('Redis', microseconds / 1_000 - systemClock.now())] : []),
    ...(value('role') === 'slave'
      ? [problem('Redis role', 'It is a read-only replica.', 'Point REDIS_URL at the primary.')]
      : []),
  ];
}
