/** `rerun`, as the downloaded client on Node, alone and with a real service. */
import { expect, test } from 'bun:test';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../support/folder.ts';
import { runClient } from './support/client.ts';
import { sharedService } from './support/service.ts';
import { shopWithHistory } from './support/shop.ts';

const searchSchema = z.object({ tests: z.array(z.object({ test_id: z.string() })) });
const detailsSchema = z.object({ failure_ratio: z.number(), last_failure_at: z.string(), legs: z.array(z.unknown()) });

/** Fails in its first runs, then passes; writes a report of each. */
const command = (failures: number): string[] => [
  'sh',
  '-c',
  `echo x >> runs; n=$(wc -l < runs); mkdir -p reports
if [ "$n" -le ${failures} ]; then f='<failure message="no"/>'; else f=''; fi
echo "<testsuite name='shop'><testcase classname='shop' name='pays' time='0.$n'>$f</testcase></testsuite>" > reports/r.xml
[ "$n" -gt ${failures} ]`,
];

test('without a service, it says what it saw, and stops as soon as it is sure', async () => {
  const run = async (failures: number, ...options: string[]) => {
    const cwd = makeFolder('rerun');
    const { code, stdout } = await runClient('node', ['rerun', ...options, '--', ...command(failures)], { cwd });
    return [code, stdout.trim()];
  };
  expect(await run(99)).toEqual([4, 'It failed in 3 of 3 runs. Sure at 95.6%: it fails always.']);
  expect(await run(2)).toEqual([3, 'It failed in 2 of 3 runs. It is flaky: the same code passed and failed.']);
  expect(await run(0, '--max', '2')).toEqual([5, expect.stringContaining('It failed in 0 of 2 runs. Not sure at ')]);
  const cwd = makeFolder('rerun');
  expect((await runClient('node', ['rerun', '--', 'no-such-program'], { cwd })).code).toBe(127);
  expect((await runClient('node', ['rerun', '--until', '100%', '--', 'true'], { cwd })).code).toBe(2);
  const unreachable = ['rerun', '--report', 'reports', '--test', 'shop.pays', '--', ...command(1)];
  const alone = await runClient('node', unreachable, { cwd, env: { CI_INSIGHTS_TOKEN: undefined } });
  expect([alone.code, alone.stderr]).toEqual([3, expect.stringContaining('Without the service: ')]);
});

test('with a service, it goes by the rate of the test, and sends each run as evidence of this commit only', async () => {
  const [repository, service] = [await shopWithHistory(), await sharedService()];
  const cwd = makeFolder('rerun');
  writeFileSync(join(cwd, 'cart'), '1');
  const git = (...args: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
      cwd,
      encoding: 'utf8',
    }).stdout.trim();
  git('init', '-q', '-b', 'main');
  git('add', 'cart');
  git('commit', '-qm', 'one');
  const commit = git('rev-parse', 'HEAD');
  const env = { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token };
  const options = ['--repo', `acme/${repository}`, '--test', 'shop.pays', '--report', 'reports', '--json'];
  const base = `/v1/ci/acme/repositories/${repository}`;
  const details = async () => {
    const found = searchSchema.parse(await (await service.fetch(`${base}/search/tests?test_name=shop.pays`)).json());
    const answer = await service.fetch(`${base}/tests/${found.tests[0]?.test_id}`);
    return detailsSchema.parse(await answer.json());
  };
  const before = await details();
  const ran = await runClient('node', ['rerun', ...options, '--', ...command(2)], { cwd, env });
  expect([ran.code, ran.stderr]).toEqual([3, '']);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    failures: 2,
    passes: 1,
    rate: before.failure_ratio,
    verdict: 'flaky',
  });
  const shown = await service.until<{ runs: number; failures: Record<string, unknown>[] }>(
    `${base}/commits/${commit}/failures`,
    ({ runs }) => runs === 3,
  );
  expect(shown.failures).toMatchObject([
    {
      test_name: 'shop.pays',
      branch: 'rerun/main',
      job_name: 'rerun',
      evidence: { commit_failures: 2, commit_passes: 1 },
    },
  ]);
  const after = await details();
  for (const field of ['failure_ratio', 'last_failure_at', 'legs'] as const)
    expect(after[field]).toEqual(before[field]);
  writeFileSync(join(cwd, 'cart'), '2');
  const changed = await runClient('node', ['rerun', ...options, '--', 'true'], { cwd, env });
  expect(changed.stderr).toContain('Nothing is sent: there are changes that no commit has.');
});
