/**
 * A backlog: fills the queue while no worker runs, then starts the service on embedded stores and watches it drain.
 *
 * `bun tests/bench/backlog.ts [chunks] [executions of each]`; `QUEUE=redis` puts the queue into Redis.
 */
import { backlog, memoryOverTime } from '../support/backlog.ts';
import { startRedis } from '../support/redis.ts';

const SHOWN = 12;

const [chunks = 200_000, executions = 10] = process.argv.slice(2).map(Number);
const redis = process.env.QUEUE === 'redis' ? await startRedis() : undefined;
try {
  const { samples, doctor, ...figures } = await backlog({
    chunks,
    executions,
    redisUrl: redis?.url,
    secondsMax: Math.max(300, chunks / 20),
  });
  const every = Math.max(1, Math.floor(samples.length / SHOWN));
  const mebibytes = (bytes = 0): number => Math.round(bytes / 1024 ** 2);
  const end = figures.drainSeconds;
  console.table(
    samples
      .filter((_, i) => i % every === 0 || i === samples.length - 1)
      .map(({ seconds, waiting, drainSeconds, memory }) => ({
        seconds: Math.round(seconds),
        waiting,
        'drain said': drainSeconds === undefined ? '–' : Math.round(drainSeconds),
        'it took': Math.round(end - seconds),
        'workers MiB': mebibytes(memory.workers),
        'API MiB': mebibytes(memory.api),
        'parsers MiB': mebibytes(memory.parsing),
        'PostgreSQL MiB': mebibytes(memory.postgres),
      })),
  );
  for (const { said, took } of doctor) console.log(`doctor: ${said} It took ${Math.round(took)} s.`);
  console.log({ queue: redis ? 'Redis' : 'PostgreSQL', memoryOfEachThird: memoryOverTime(samples), ...figures });
} finally {
  await redis?.stop();
}
