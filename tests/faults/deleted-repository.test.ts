/** A service that is killed again and again while it deletes a repository removes all of it in the end, and nothing else. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { z } from 'zod';
import { upload } from '../support/fault-uploads.ts';
import { makeFolder } from '../support/folder.ts';
import { until } from '../support/patience.ts';
import { randomFrom } from '../support/random.ts';
import { runCommand, ServiceProcess } from '../support/service-process.ts';

const KILLS = 4;
/** Within which a kill comes after the deletion is asked for, or continues. */
const KILLED_WITHIN_MS = 400;
const TESTS = 2_000;
const SHOP = '/v1/ci/acme/repositories/shop';

const dataDir = join(makeFolder('deleted'), 'data');
const service = ServiceProcess.onFolder(dataDir);
beforeAll(() => service.start());
afterAll(async () => void (await service.stop()));

const listSchema = z.object({
  deletions: z.array(z.object({ finished_at: z.string().nullable(), removed: z.record(z.string(), z.number()) })),
});

const deletions = async () => listSchema.parse(await (await service.request(`${SHOP}/deletions`)).json()).deletions;

test('a deletion survives kills, and verify finds no difference', async () => {
  const random = randomFrom(fc.readConfigureGlobal().seed ?? 0);
  for (const run of [1, 2, 3]) await upload(service, { repository: 'shop', run, tests: TESTS });
  await upload(service, { repository: 'kept', run: 1, tests: TESTS });
  expect((await service.request(`${SHOP}?confirm=acme/shop`, { method: 'DELETE' })).status).toBe(202);
  for (let kill = 0; kill < KILLS; kill++) {
    await Bun.sleep(KILLED_WITHIN_MS * random());
    await service.kill();
    await service.start();
  }
  const finished = await until(deletions, (all) => all.every(({ finished_at: at }) => at !== null));
  expect(finished).toMatchObject([{ removed: { repositories: 1, executions: 3 * TESTS, tests: TESTS } }]);
  const kept = await service.request('/v1/ci/acme/repositories/kept/search/tests?test_name=*');
  expect(await kept.json()).toMatchObject({ total: TESTS });
  expect(await (await service.request(`${SHOP}/search/tests?test_name=*`)).json()).toMatchObject({ total: 0 });
  await service.stop();
  expect(runCommand(dataDir, 'repos', 'delete', 'acme/shop', '--yes').code).toBe(1);
  const looked = runCommand(dataDir, 'repos', 'delete', 'acme/kept', '--dry-run', '--json');
  expect(looked.code).toBe(0);
  expect(JSON.parse(looked.out)).toMatchObject({ is_dry_run: true, rows: { executions: TESTS } });
  expect(runCommand(dataDir, 'verify')).toMatchObject({ code: 0 });
  const deleted = runCommand(dataDir, 'repos', 'delete', 'acme/kept', '--yes');
  expect([deleted.code, deleted.out]).toEqual([
    0,
    expect.stringMatching(/acme\/kept is deleted: [\d,]+ rows were removed/),
  ]);
  const verified = runCommand(dataDir, 'verify');
  expect([verified.code, verified.out]).toEqual([0, expect.stringContaining('agree with 0 executions')]);
});
