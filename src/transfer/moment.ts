/** Refuses to take rows from stores that are not finished, and to replace rows that would be lost. */
import { z } from 'zod';
import type { Deps } from '../deps.ts';
import { grouped } from '../domain/grouped-number.ts';
import { UserError } from '../errors.ts';
import { readInstallation } from '../postgres/installation.ts';
import { readQueueBacklog, waitingIn } from '../queue/backlog.ts';
import { jobKinds } from '../queue/kinds.ts';

const counted = z.tuple([
  z.object({ repositories: z.coerce.number(), unstored: z.coerce.number(), newest: z.coerce.number() }),
]);

/** Which installation stores belong to, and how far they are. */
export interface Moment {
  installation: string;
  /** The number of the newest block. */
  newestBlock: number;
}

/** Reads it. Jobs that wait are in neither store, and an unstored block is in one only: throws a {@link UserError}. */
export async function finishedMoment(deps: Deps): Promise<Moment> {
  const queues = jobKinds.map(({ name }) => deps.queues.queue(name));
  try {
    const backlogs = await Promise.all(queues.map((queue) => readQueueBacklog(queue, deps.clock.now())));
    const waiting = backlogs.reduce((sum, backlog) => sum + waitingIn(backlog), 0);
    const { unstored, ...moment } = await read(deps);
    if (waiting + unstored === 0) return moment;
    throw new UserError(
      `Not everything is stored yet: ${grouped(waiting)} jobs wait in the queue, and ${grouped(unstored)} blocks for ClickHouse. Stop what takes uploads, let a worker finish, stop it, and run this again.`,
    );
  } finally {
    await Promise.all(queues.map((queue) => queue.close()));
  }
}

/** Throws a {@link UserError} if stores hold what another moment does not have. */
export async function refuseLoss(target: Pick<Deps, 'postgres'>, coming: Moment): Promise<void> {
  const there = await read(target);
  if (there.repositories === 0) return;
  if (there.installation !== coming.installation)
    throw new UserError('The stores to write to hold another installation. To lose it for good, add --replace.');
  if (there.newestBlock > coming.newestBlock)
    throw new UserError(
      'The stores to write to have taken results that would be lost: someone has used them since. To lose them for good, add --replace.',
    );
}

async function read({ postgres }: Pick<Deps, 'postgres'>) {
  const { id } = await readInstallation(postgres.db);
  const { rows } = await postgres.pool.query(
    `select (select count(*) from ci_insights.repositories) as repositories,
       (select coalesce(max(block_id), 0) from ci_insights.ingest_blocks) as newest,
       (select count(*) from ci_insights.ingest_blocks where stored_at is null) as unstored`,
  );
  const [{ repositories, newest, unstored }] = counted.parse(rows);
  return { installation: id, repositories, newestBlock: newest, unstored };
}
