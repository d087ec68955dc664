/** Renamed tests on real stores: what is proposed, and that everything goes along when it is accepted, and back when it is undone. */
import { describe, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import { z } from 'zod';
import { testIdOf } from '../../src/domain/identity.ts';
import type { Status } from '../../src/domain/status.ts';
import { audit } from '../../src/postgres/schema.ts';
import { Course } from '../support/backtests.ts';
import { setUpApp } from '../support/ingest.ts';
import { until } from '../support/patience.ts';

const ingest = setUpApp();

const OLD = 'shop.CartTest.sums';
const NEW = 'shop.cart.CartTest.sums';

const renameSchema = z.object({
  id: z.string(),
  state: z.string(),
  test_id: z.string(),
  new_test_id: z.string(),
  test_name: z.string(),
  new_name: z.string(),
  reasons: z.array(z.string()),
  confidence: z.number().nullable(),
  is_applied: z.boolean(),
  decided_by: z.string().nullable(),
});
const listSchema = z.object({ renames: z.array(renameSchema) });

/** A repository in which `OLD` was flaky and quarantined, and is called `NEW` since four commits. */
async function renamed() {
  const course = await Course.start(ingest, 'flaky');
  const results = (name: string, status: Status = 'passed') => ({ [name]: status });
  await course.ingest(...course.flaky(OLD, 2, 'timeout'), ...course.flaky(OLD, 2, 'timeout'));
  await course.ingest(...course.flaky(OLD, 3, 'timeout'));
  const run = (name: string, status: Status = 'passed') =>
    course.run(`run ${course.at}`, results(name, status), { message: 'timeout' });
  await course.ingest(...Array.from({ length: 3 }, () => run(NEW)), run(NEW, 'failed'), run(NEW));
  const base = `/v1/ci/${course.repository.owner}/repositories/${course.repository.name}`;
  const id = testIdOf(course.id, OLD);
  const list = async (query = '') => listSchema.parse(await ingest.app.get(`${base}/renames${query}`)).renames;
  const decide = async (renameId: string, state: string) => {
    const response = await ingest.app.request(`${base}/renames/${renameId}`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ state }),
    });
    return { status: response.status, body: await response.json() };
  };
  // A call leaves them to the next one while a block is on its way, or while another process applies some.
  const apply = () =>
    until(async () => {
      await ingest.driver.renamer.run();
      await ingest.driver.settle();
      return (await list()).every(({ is_applied: isApplied }) => isApplied);
    });
  const shown = async (testId: string): Promise<unknown> => {
    const response = await ingest.app.request(`${base}/tests/${testId}`);
    return response.status === 200 ? await response.json() : response.status;
  };
  const found = async (name: string) =>
    (
      await ingest.app.get<{ tests: { test_name: string; test_id: string }[] }>(
        `${base}/search/tests?test_name=${encodeURIComponent(name)}`,
      )
    ).tests.map(({ test_name, test_id }) => ({ test_name, test_id }));
  const quarantined = async () =>
    (await ingest.app.get<{ quarantined_tests: { test_name: string }[] }>(`${base}/quarantines`)).quarantined_tests.map(
      ({ test_name }) => test_name,
    );
  return { course, base, id, newId: testIdOf(course.id, NEW), list, decide, apply, shown, found, quarantined, run };
}

/** The events of renames in the log, the oldest first. */
async function eventsOf(repositoryId: string) {
  const rows = await ingest.stores.clickhouse.rows(
    `SELECT type, trigger, metadata FROM ci.events
     WHERE repository_id = {id: UUID} AND startsWith(type, 'test.rename') ORDER BY received_at, id`,
    { id: repositoryId },
  );
  return z
    .array(z.object({ type: z.string(), trigger: z.string(), metadata: z.string() }))
    .parse(rows)
    .map(({ metadata, ...event }) => ({ ...event, ...JSON.parse(metadata) }));
}

describe('a renamed test', () => {
  test('is proposed with reasons; accepted, it continues with its history, health and quarantine; undone, it is two again', async () => {
    const { id, newId, list, decide, apply, shown, found, quarantined, run, course } = await renamed();
    const [proposed, ...others] = await list('?state=proposed');
    expect(others).toEqual([]);
    expect(proposed).toMatchObject({
      ...{ state: 'proposed', test_id: id, new_test_id: newId, test_name: OLD, new_name: NEW, is_applied: true },
      ...{ reasons: ['same_commit', 'same_name'], confidence: 0.95 },
    });
    if (!proposed) throw new Error('nothing was proposed');
    expect(await quarantined()).toEqual([OLD]);
    const before = await shown(newId);
    expect(before).toMatchObject({ test_name: NEW });

    expect(await decide(proposed.id, 'accepted')).toMatchObject({ status: 200, body: { state: 'accepted' } });
    await apply();
    await ingest.driver.verify();
    expect(await list('?state=accepted')).toMatchObject([{ id: proposed.id, is_applied: true }]);
    expect(await shown(id)).toMatchObject({ test_id: id, test_name: NEW, health_status: 'flaky' });
    await until(async () => JSON.stringify(await shown(newId)) === JSON.stringify(await shown(id)));
    expect(await found('shop.*')).toEqual([{ test_name: NEW, test_id: id }]);
    // By each of its names.
    for (const name of [OLD, NEW]) expect(await found(name)).toEqual([{ test_name: NEW, test_id: id }]);
    expect(await quarantined()).toEqual([NEW]);

    // What arrives later counts for the same test, also if a worker has not heard of it yet.
    await course.ingest(run(NEW, 'failed'), run(NEW));
    await apply();
    expect(await found('shop.*')).toEqual([{ test_name: NEW, test_id: id }]);
    await ingest.driver.verify();

    expect(await decide(proposed.id, 'undone')).toMatchObject({ status: 200, body: { state: 'undone' } });
    await apply();
    await ingest.driver.verify();
    expect(await shown(id)).toMatchObject({ test_name: OLD });
    await until(async () => z.object({ test_id: z.string() }).parse(await shown(newId)).test_id === newId);
    expect((await found('shop.*')).map(({ test_name }) => test_name).sort()).toEqual([NEW, OLD].sort());
    expect(await quarantined()).toContain(OLD);
  });

  test('that was rejected is not proposed again, and what does not follow from its state is refused', async () => {
    const { list, decide, course, run, id } = await renamed();
    const [proposed] = await list();
    if (!proposed) throw new Error('nothing was proposed');
    expect((await decide(proposed.id, 'undone')).status).toBe(409);
    expect(await decide(proposed.id, 'rejected')).toMatchObject({ status: 200, body: { state: 'rejected' } });
    await course.ingest(run(NEW), run(NEW));
    expect(await list()).toMatchObject([{ id: proposed.id, state: 'rejected', is_applied: true }]);
    expect(await list(`?test_id=${id}`)).toHaveLength(1);
    expect(await list('?state=proposed')).toEqual([]);
    await ingest.driver.verify();
  });

  test('is accepted by the rule of its repository, once: what was undone stays so', async () => {
    const { course, list, decide, apply, found, run, id } = await renamed();
    const { stores, driver } = ingest;
    const set = async (renameConfidenceMin: number | null) =>
      stores.repositories.set(await stores.repositories.record(course.repository), { renameConfidenceMin }, 'ann');
    await set(0.96);
    await course.ingest(run(NEW));
    expect(await list()).toMatchObject([{ state: 'proposed', confidence: 0.95 }]);
    await set(0.95);
    await course.ingest(run(NEW));
    await apply();
    const [accepted] = await list();
    if (!accepted) throw new Error('nothing was proposed');
    expect(accepted).toMatchObject({ state: 'accepted', decided_by: 'auto-rename', is_applied: true });
    expect(await found('shop.*')).toEqual([{ test_name: NEW, test_id: id }]);
    await driver.verify();
    expect(await eventsOf(course.id)).toMatchObject([
      {
        ...{ type: 'test.renamed', trigger: 'auto-rename', test_id: id, test_name: OLD, new_name: NEW },
        ...{ confidence: 0.95, reasons: ['same_commit', 'same_name'] },
      },
    ]);
    const trail = await stores.postgres.db.select().from(audit).where(eq(audit.objectId, accepted.id));
    expect(trail).toMatchObject([{ action: 'rename.accept', actorKind: 'service', actorName: 'auto-rename' }]);
    await decide(accepted.id, 'undone');
    await course.ingest(run(NEW), run(NEW));
    await apply();
    expect(await list()).toMatchObject([{ state: 'undone', is_applied: true }]);
    expect((await eventsOf(course.id)).map(({ type }) => type)).toEqual(['test.renamed', 'test.rename.undone']);
    await driver.verify();
  });

  test('can be named by a person, once, and a rebuild keeps it', async () => {
    const { base, id, apply, found, list } = await renamed();
    const say = async (body: object) =>
      (
        await ingest.app.request(`${base}/renames`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      ).status;
    expect(await say({ test_name: 'no such test', new_name: NEW })).toBe(404);
    expect(await say({ test_name: OLD, new_name: NEW })).toBe(201);
    expect(await say({ test_name: 'other 1', new_name: NEW })).toBe(409);
    expect(await say({ test_name: NEW, new_name: OLD })).toBe(409);
    await apply();
    expect(await list('?state=accepted')).toHaveLength(1);
    expect(await found('shop.*')).toEqual([{ test_name: NEW, test_id: id }]);
    await ingest.driver.verify();
  });
});
