/**
 * Stores generated jobs in the folder of a service that does not run: without the queue, and without an evaluation after
 * each block. What is judged in the end, by `rebuild`, is the same, and a hundred million are stored in an hour instead of
 * three. In a separate process, because the stores are opened in it.
 */
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { readConfig } from '../../src/config.ts';
import { openDeps } from '../../src/deps.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import type { PreparedChunk } from '../../src/ledger/prepare.ts';
import { createLogger } from '../../src/observability/log.ts';
import { blockParts } from '../../src/postgres/schema.ts';
import { prepareChunk } from '../support/prepare.ts';
import { makeJobs, sourceSchema } from './data.ts';

const requestSchema = z.object({
  folder: z.string(),
  source: sourceSchema,
  /** Jobs of the source before there. */
  to: z.number(),
});
type StoreRequest = z.input<typeof requestSchema>;

/** Executions of one block: the larger, the fewer files ClickHouse writes and merges. */
const BLOCK_EXECUTIONS = 50_000;
const RETENTION_DAYS = 90;

/** Throws if the process fails. */
export async function storeWithoutQueue(request: StoreRequest): Promise<void> {
  const child = Bun.spawn([process.execPath, fileURLToPath(import.meta.url)], {
    stdin: new Blob([JSON.stringify(request)]),
    stdout: 'inherit',
    stderr: 'inherit',
  });
  if ((await child.exited) !== 0) throw new Error('the executions were not stored');
}

async function run({ folder, source, to }: StoreRequest): Promise<void> {
  const deps = await openDeps(readConfig({ DATA_DIR: folder }), { log: createLogger('error') });
  const { clickhouse, clock, repositories } = deps;
  const { db } = deps.postgres;
  const ledger = new Ledger({ db, clickhouse, clock });
  const preparedOf = async (job: Parameters<typeof prepareChunk>[0]): Promise<PreparedChunk> => {
    const known = await repositories.record(job.repository);
    const { id, defaultBranch } =
      known.defaultBranch === null ? await repositories.learnDefaultBranch(known, 'main', 'payload') : known;
    const options = { repositoryId: id, defaultBranch, now: clock.now(), retentionDays: RETENTION_DAYS };
    return prepareChunk(job, options);
  };
  const write = async (chunks: readonly PreparedChunk[]): Promise<void> => {
    for (const { error } of await ledger.write(chunks)) if (error !== undefined) throw error;
    // Nothing is counted: the rebuild counts it all.
    await db.delete(blockParts);
  };
  // The next block is prepared while the last is written.
  let writing: Promise<void> = Promise.resolve();
  let chunks: PreparedChunk[] = [];
  let executions = 0;
  let index = 0;
  try {
    for (const job of makeJobs(source)) {
      if (index++ >= to) break;
      chunks.push(await preparedOf(job));
      executions += source.chunk;
      if (executions < BLOCK_EXECUTIONS && index < to) continue;
      await writing;
      writing = write(chunks);
      writing.catch(() => {});
      [chunks, executions] = [[], 0];
    }
    await writing;
  } finally {
    await deps.close();
  }
}

if (import.meta.main) {
  await run(requestSchema.parse(await Bun.stdin.json()));
  process.exit(0);
}
