/** Dead letters over HTTP: operators see them and put them back into their queue. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { mountDeadLetters } from '../../src/operate/dead-letters.ts';
import { compress } from '../../src/queue/encoding.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { labelled, makeEventsJob } from '../support/events.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { IngestDriver } from '../support/ingest.ts';
import { uniqueRepository } from '../support/stores.ts';

const listSchema = z.object({
  dead_letters: z.array(z.object({ id: z.string(), queue: z.string(), job_id: z.string(), reason: z.string() })),
  total: z.number(),
});

const PREFIX = `letter-${crypto.randomUUID()}`;
let app: TestApp;
beforeAll(async () => {
  const { stores } = await openTestApp();
  app = await openTestApp({ features: [(elysia, http) => mountDeadLetters(elysia, http, stores)] });
});
// Other tests share the stores.
afterAll(() =>
  app.stores.postgres.pool.query(`delete from ci_insights.dead_letters where reason like $1`, [`%${PREFIX}%`]),
);

const bury = (queue: string, jobId: string, payload: unknown = { v: 99 }) =>
  app.stores.deadLetters.add(queue, jobId, null, payload, `the reason of ${jobId}`);
const list = async () => listSchema.parse(await app.get('/v1/dead-letters'));
const letterOf = async (jobId: string) => (await list()).dead_letters.find(({ job_id }) => job_id === jobId);
const replay = (id = '') => app.request(`/v1/dead-letters/${id}/replay`, { method: 'POST' });

describe('a dead letter', () => {
  test('is listed with its reason until it is replayed, and is then in its queue and done', async () => {
    const repository = uniqueRepository();
    const jobId = `${PREFIX}-${crypto.randomUUID()}`;
    await bury('pr-events', jobId, compress(makeEventsJob(repository, [labelled(jobId)])));
    const letter = await letterOf(jobId);
    expect(letter).toMatchObject({ queue: 'pr-events', reason: `the reason of ${jobId}` });
    const { total } = await list();
    const driver = new IngestDriver(app.stores);
    try {
      expect((await replay(letter?.id)).status).toBe(204);
      expect(await app.stores.producers.of(prEvents).has(jobId)).toBe(true);
      expect([await letterOf(jobId), (await list()).total]).toEqual([undefined, total - 1]);
      expect((await replay(letter?.id)).status).toBe(404);
      await driver.settle();
    } finally {
      await driver.stop();
    }
    expect(await letterOf(jobId)).toBeUndefined();
  });

  test('of a queue that this version does not know is refused, and kept', async () => {
    const jobId = `${PREFIX}-${crypto.randomUUID()}`;
    await bury('of-a-newer-version', jobId);
    const refused = await replay((await letterOf(jobId))?.id);
    expect([refused.status, await refused.text()]).toEqual([409, expect.stringContaining('of-a-newer-version')]);
    expect(await letterOf(jobId)).toBeDefined();
  });

  test('that no one has written is 404, and a malformed id 422', async () => {
    expect((await replay(crypto.randomUUID())).status).toBe(404);
    expect((await replay('nope')).status).toBe(422);
  });
});

test('of many dead letters the oldest hundred are listed, and all are counted', async () => {
  const { clock } = app.stores;
  const [now, { total: before }] = [clock.now(), await list()];
  // Older than those of other tests.
  clock.set('2020-01-01T00:00:00Z');
  for (let n = 0; n < 102; n++) {
    clock.at += 1;
    await bury('pr-events', `${PREFIX} ${n}`);
  }
  clock.set(now);
  const { dead_letters: letters, total } = await list();
  expect([letters.length, total - before]).toEqual([100, 102]);
  expect([letters[0]?.job_id, letters[99]?.job_id]).toEqual([`${PREFIX} 0`, `${PREFIX} 99`]);
});
