/** A service that is killed again and again while it forgets tests forgets all of them in the end, and nothing else. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import fc from 'fast-check';
import { z } from 'zod';
import { testsSchema, upload } from '../support/fault-uploads.ts';
import { makeFolder } from '../support/folder.ts';
import { until } from '../support/patience.ts';
import { randomFrom } from '../support/random.ts';
import { runCommand, ServiceProcess } from '../support/service-process.ts';

const KILLS = 4;
/** Within which a kill comes after it is asked for, or continues. */
const KILLED_WITHIN_MS = 400;
const TESTS = 2_000;
const FORGOTTEN = 500;
const SHOP = '/v1/ci/acme/repositories/shop';

const dataDir = join(makeFolder('forgotten'), 'data');
const service = ServiceProcess.onFolder(dataDir);
beforeAll(() => service.start());
afterAll(async () => void (await service.stop()));

const listSchema = z.object({
  forgettings: z.array(z.object({ finished_at: z.string().nullable(), removed: z.record(z.string(), z.number()) })),
});
const forgettings = async () =>
  listSchema.parse(await (await service.request(`${SHOP}/forgotten-tests`)).json()).forgettings;

test('forgetting survives kills, and verify finds no difference', async () => {
  const random = randomFrom(fc.readConfigureGlobal().seed ?? 0);
  for (const run of [1, 2, 3]) await upload(service, { repository: 'shop', run, tests: TESTS });
  const ids: string[] = [];
  const names: string[] = [];
  for (let next = `${SHOP}/search/tests?test_name=*&per_page=100`; next !== ''; ) {
    const page = await service.request(next);
    const { tests } = testsSchema.parse(await page.json());
    ids.push(...tests.filter(({ test_name: name }) => /t1[5-9]\d\d$/.test(name)).map(({ test_id: id }) => id));
    names.push(...tests.map(({ test_name: name }) => name).filter((name) => /t[0-2]$/.test(name)));
    next = /<([^>]+)>; rel="next"/.exec(page.headers.get('link') ?? '')?.[1]?.replace(/^https?:\/\/[^/]+/, '') ?? '';
  }
  expect(ids).toHaveLength(FORGOTTEN);
  const asked = await service.request(`${SHOP}/tests/forget`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ test_ids: ids }),
  });
  expect(asked.status).toBe(202);
  for (let kill = 0; kill < KILLS; kill++) {
    await Bun.sleep(KILLED_WITHIN_MS * random());
    await service.kill();
    await service.start();
  }
  const finished = await until(forgettings, (all) => all.every(({ finished_at: at }) => at !== null));
  expect(finished).toMatchObject([{ removed: { executions: 3 * FORGOTTEN, tests: FORGOTTEN } }]);
  // The same report brings nothing back, and is answered as before.
  await upload(service, { repository: 'shop', run: 3, tests: TESTS });
  const kept = await service.request(`${SHOP}/search/tests?test_name=*`);
  expect(await kept.json()).toMatchObject({ total: TESTS - FORGOTTEN });

  // The command, through the running service and without it.
  const name = (number: number) => names.find((one) => one.endsWith(`t${number}`)) ?? '';
  const look = ['tests', 'forget', 'acme/shop', '--test', name(0), '--json'];
  expect(JSON.parse(runCommand(dataDir, ...look, '--dry-run').out)).toMatchObject({ is_dry_run: true, count: 1 });
  expect(JSON.parse(runCommand(dataDir, ...look, '--yes').out)).toMatchObject({ count: 1, rows: { executions: 3 } });
  await service.stop();
  expect(runCommand(dataDir, ...look, '--yes').code).toBe(1);
  const command = runCommand(dataDir, 'tests', 'forget', 'acme/shop', '--test', name(1), '--test', name(2), '--yes');
  expect([command.code, command.out]).toEqual([
    0,
    expect.stringMatching(/2 tests are forgotten: [\d,]+ rows were removed/),
  ]);
  const verified = runCommand(dataDir, 'verify');
  expect([verified.code, verified.out]).toEqual([
    0,
    expect.stringContaining(`agree with ${(3 * (TESTS - FORGOTTEN - 3)).toLocaleString('en-US')} executions`),
  ]);
});
