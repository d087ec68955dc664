/** Dead letters over HTTP, for operators: what could not be stored and why, and back into the queue with it. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { formatMoment } from '../domain/moment.ts';
import { auditActorOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { uuid } from '../http/path.ts';
import { conflict, notFound } from '../http/problems.ts';
import type { DeadLetter, DeadLetterStore } from '../postgres/dead-letters.ts';
import type { Producers } from '../queue/producer.ts';
import { replayDeadLetters } from '../queue/replay.ts';

interface DeadLetterDeps {
  deadLetters: DeadLetterStore;
  producers: Pick<Producers, 'ofQueue'>;
}

const ADDRESS = '/v1/dead-letters';
const TAG = 'Service';
/** One cause makes many alike; `ci-insights dead-letters` shows and replays all. */
const LISTED_MAX = 100;

const letterSchema = z
  .object({
    id: z.guid().meta({ example: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
    queue: z.string().meta({ example: 'test-runs' }),
    job_id: z.string().meta({ example: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6b' }),
    upload_id: z.guid().nullable().meta({ example: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6c' }),
    reason: z.string().meta({ description: 'Why no retry can help', example: 'run.commit: is too long' }),
    created_at: z.iso.datetime().meta({ example: '2026-11-21T10:00:00.000Z' }),
  })
  .meta({ id: 'DeadLetter' });

const listSchema = z.object({
  dead_letters: z.array(letterSchema),
  total: z.int().meta({ description: 'How many there are', example: 1 }),
});
export type DeadLetterList = z.infer<typeof listSchema>;

const listed = ({ id, queue, jobId, uploadId, reason, createdAt }: DeadLetter): z.infer<typeof letterSchema> => ({
  id,
  queue,
  job_id: jobId,
  upload_id: uploadId,
  reason,
  created_at: formatMoment(createdAt.getTime()),
});

export function mountDeadLetters(app: AnyElysia, http: Http, { deadLetters, producers }: DeadLetterDeps): void {
  mount(app, http, 'GET', ADDRESS, {
    operationId: 'listDeadLetters',
    tag: TAG,
    summary: 'List dead letters',
    description: `Queue jobs that no retry can help and that were not replayed, the oldest ${LISTED_MAX} first.`,
    access: 'operator',
    responses: { 200: { description: 'The dead letters.', schema: listSchema } },
    handle: async () => {
      const [letters, total] = await Promise.all([deadLetters.list(LISTED_MAX), deadLetters.count()]);
      return { body: { dead_letters: letters.map(listed), total } };
    },
  });

  mount(app, http, 'POST', `${ADDRESS}/:dead_letter_id/replay`, {
    operationId: 'replayDeadLetter',
    tag: TAG,
    summary: 'Replay a dead letter',
    description:
      'Puts the job back into its queue, once the cause is gone. If it fails again, it becomes a dead letter again. To replay twice counts nothing twice.',
    access: 'operator',
    params: z.object({
      dead_letter_id: uuid('Id of the dead letter, as returned by the list.', '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a'),
    }),
    responses: { 204: { description: 'The job is back in the queue.' } },
    handle: async ({ params, credential, requestId }) => {
      const letter = await deadLetters.find(params.dead_letter_id);
      if (!letter) throw notFound('There is no such dead letter, or it was replayed. List them to see their ids.');
      if (!producers.ofQueue(letter.queue))
        throw conflict(`This version does not know the queue ${letter.queue}. Replay the letter with a newer one.`);
      await replayDeadLetters(deadLetters, producers, [letter], auditActorOf(credential, requestId));
      return { status: 204 };
    },
  });
}
