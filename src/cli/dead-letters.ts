/** `ci-insights dead-letters …`: jobs that no retry could help. Needs PostgreSQL and the queue only. */
import { Command } from 'commander';
import { count, formatTable, formatTime, print, printJson } from '../client/output.ts';
import type { PostgresDeps } from '../deps.ts';
import { UserError } from '../errors.ts';
import type { DeadLetter } from '../postgres/dead-letters.ts';
import type { QueueBackend } from '../queue/backend.ts';
import { operatorOf } from './operator.ts';
import { withPostgres } from './stores.ts';

export const deadLettersCommand = (): Command =>
  new Command('dead-letters')
    .description('list and replay jobs that could not be stored')
    .addCommand(list())
    .addCommand(replay())
    .addCommand(retryFailed());

const list = (): Command =>
  new Command('list')
    .description('list dead letters that were not replayed, oldest first')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const letters = await withPostgres((deps) => deps.deadLetters.list());
      if (json) return printJson(letters.map(toJson));
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
    .description('requeue dead letters after fixing the cause')
    .argument('[ids...]', 'ids of dead letters')
    .option('--all', 'replay all of them')
    .action(async (ids: string[], { all }: { all?: boolean }) => {
      if (all ? ids.length > 0 : ids.length === 0)
        throw new UserError('Name the dead letters to replay, or use --all.');
      const replayed = await withPostgres(async (deps) => {
        const letters = await deps.deadLetters.list();
        const chosen = all ? letters : ids.map((id) => letterOf(letters, id));
        await replayAll(deps, chosen);
        return chosen.length;
      });
      print(`${count(replayed, 'job')} back in the queue.`);
    });

/** A store was down for about a day of attempts: nothing is wrong with such a job. */
const retryFailed = (): Command =>
  new Command('retry-failed')
    .description('retry jobs that ran out of attempts, once the store is back')
    .action(async () => {
      const { retryFailedJobs } = await import('../queue/retry.ts');
      const { recordAudit } = await import('../postgres/audit.ts');
      const retried = await withPostgres(async (deps) => {
        const jobs = await withQueues(deps, retryFailedJobs);
        const by = operatorOf('dead-letters retry-failed');
        await recordAudit(deps.postgres.db, by, { action: 'queue.retry', after: { jobs } }, deps.clock.now());
        return jobs;
      });
      print(`${count(retried, 'job')} back in the queue.`);
    });

function letterOf(letters: readonly DeadLetter[], id: string): DeadLetter {
  const found = letters.find((letter) => letter.id === id);
  if (!found)
    throw new UserError(`There is no dead letter ${id} to replay. \`ci-insights dead-letters list\` lists them.`);
  return found;
}

/** Opens only the queues: that needs PostgreSQL or Redis and no other store. */
async function withQueues<T>(
  { config, databaseUrl, log }: PostgresDeps,
  run: (queues: QueueBackend) => Promise<T>,
): Promise<T> {
  const { openQueues } = await import('../queue/open.ts');
  const queues = await openQueues(config, databaseUrl, (error) =>
    log.warn({ err: error }, 'the queue reported an error'),
  );
  try {
    return await run(queues);
  } finally {
    await queues.close();
  }
}

const replayAll = (deps: PostgresDeps, letters: readonly DeadLetter[]): Promise<void> =>
  withQueues(deps, async (queues) => {
    const { Producers } = await import('../queue/producer.ts');
    const { replayDeadLetters } = await import('../queue/replay.ts');
    const producers = new Producers(queues);
    try {
      await replayDeadLetters(deps.deadLetters, producers, letters, operatorOf('dead-letters replay'));
    } finally {
      await producers.close();
    }
  });

const toJson = (letter: DeadLetter) => ({
  id: letter.id,
  queue: letter.queue,
  job_id: letter.jobId,
  upload_id: letter.uploadId,
  reason: letter.reason,
  created_at: letter.createdAt,
});
