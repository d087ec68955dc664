/** `ci-insights dead-letters …`: jobs that no retry could help. PostgreSQL and the queue are enough. */
import { Command } from 'commander';
import type { PostgresDeps } from '../deps.ts';
import { UserError } from '../errors.ts';
import type { DeadLetter } from '../postgres/dead-letters.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { type Producers, replayDeadLetters } from '../queue/replay.ts';
import { count, formatTable, formatTime, print, printJson } from './output.ts';
import { withPostgres } from './stores.ts';

export const deadLettersCommand = (): Command =>
  new Command('dead-letters')
    .description('list and replay jobs that could not be stored')
    .addCommand(list())
    .addCommand(replay())
    .addCommand(retryFailed());

const list = (): Command =>
  new Command('list')
    .description('list what was not replayed yet, oldest first')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const letters = await withPostgres((deps) => deps.deadLetters.list());
      if (json) return printJson(letters.map(shown));
      if (letters.length === 0) return print('There are no dead letters.');
      print(
        formatTable(
          ['ID', 'SINCE', 'QUEUE', 'UPLOAD', 'REASON'],
          letters.map((letter) => [
            letter.id,
            formatTime(letter.createdAt),
            letter.queue,
            letter.uploadId ?? '-',
            letter.reason,
          ]),
        ),
      );
    });

const replay = (): Command =>
  new Command('replay')
    .description('put jobs back into the queue, once what was wrong is mended')
    .argument('[ids...]', 'which ones')
    .option('--all', 'all of them')
    .action(async (ids: string[], { all }: { all?: boolean }) => {
      if (all ? ids.length > 0 : ids.length === 0)
        throw new UserError('Name the dead letters to replay, or say --all.');
      const replayed = await withPostgres(async (deps) => {
        const letters = await deps.deadLetters.list();
        const chosen = all ? letters : ids.map((id) => letterOf(letters, id));
        await withProducers(deps, (producers) => replayDeadLetters(deps.deadLetters, producers, chosen));
        return chosen.length;
      });
      print(`${count(replayed, 'job')} back in the queue.`);
    });

/** About a day of tries is up, because a store was away that long: nothing is wrong with such a job. */
const retryFailed = (): Command =>
  new Command('retry-failed')
    .description('try jobs again that ran out of tries, once the store they waited for is back')
    .action(async () => {
      const { retryFailedJobs } = await import('../queue/retry.ts');
      const retried = await withPostgres((deps) => withBackend(deps, retryFailedJobs));
      print(`${count(retried, 'job')} back in the queue.`);
    });

function letterOf(letters: readonly DeadLetter[], id: string): DeadLetter {
  const found = letters.find((letter) => letter.id === id);
  if (!found)
    throw new UserError(`There is no dead letter ${id} to replay. \`ci-insights dead-letters list\` shows them.`);
  return found;
}

/** The queues alone, on Redis or in the PostgreSQL that is open already. */
async function withBackend<T>(
  { config, databaseUrl, log }: PostgresDeps,
  run: (backend: QueueBackend) => Promise<T>,
): Promise<T> {
  const { openPostgresQueues, openRedisQueues } = await import('../queue/backend.ts');
  const onError = (error: Error): void => log.warn({ err: error }, 'the queue reports an error');
  const backend = config.redisUrl
    ? await openRedisQueues(config.redisUrl, onError)
    : await openPostgresQueues(databaseUrl, onError);
  try {
    return await run(backend);
  } finally {
    await backend.close();
  }
}

const withProducers = (deps: PostgresDeps, run: (producers: Producers) => Promise<void>): Promise<void> =>
  withBackend(deps, async (backend) => {
    const { PrEventsProducer, TestRunsProducer } = await import('../queue/producer.ts');
    const testRuns = new TestRunsProducer(backend);
    const prEvents = new PrEventsProducer(backend);
    try {
      await run({ testRuns, prEvents });
    } finally {
      await testRuns.close();
      await prEvents.close();
    }
  });

const shown = (letter: DeadLetter) => ({
  id: letter.id,
  queue: letter.queue,
  job_id: letter.jobId,
  upload_id: letter.uploadId,
  reason: letter.reason,
  created_at: letter.createdAt,
});
