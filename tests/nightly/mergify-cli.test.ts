/** `mergify-cli` 2026.10.3, unmodified: tests, quarantines, events, and how it shows our errors. */
import { afterAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { FAILING, PASSING, reportFolder } from '../clients/support/cart-report.ts';
import { jobEnvironment } from '../clients/support/job.ts';
import { pythonEnvironment } from '../clients/support/python.ts';
import { type Ran, run } from '../clients/support/run.ts';
import { freshRepository, sharedService } from '../clients/support/service.ts';
import { delivery, payloadOf } from '../support/webhooks.ts';

const folder = reportFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const python = await pythonEnvironment('newest');

async function mergify(repository: string, args: string[], changes: Record<string, string> = {}): Promise<Ran> {
  const env = { ...jobEnvironment(await sharedService(), { repository }), ...changes };
  return run([join(python?.bin ?? '', 'mergify'), ...args], { cwd: folder, env });
}

/** The JSON that it printed; fails with its output if there is none. */
async function json<T>(repository: string, args: string[]): Promise<T> {
  const ran = await mergify(repository, [...args, '--json']);
  expect([ran.code, ran.stderr]).toEqual([0, expect.any(String)]);
  return JSON.parse(ran.stdout) as T;
}

/** The CLI's own code for an answer of the API that is an error. */
const API_ERROR = 6;

describe.skipIf(!python)('mergify tests show', () => {
  interface Found {
    tests: { test_id: string }[];
  }
  interface Shown {
    tests: {
      test_name: string;
      health_status: string;
      pipeline_name: string;
      job_name: string;
      failure_ratio: number;
    }[];
  }

  test('finds by name and by glob, and prints what our details say', async () => {
    const repository = freshRepository('cli');
    const service = await sharedService();
    await mergify(repository, ['ci', 'junit-process', 'unit.xml']);
    const base = `/v1/ci/acme/repositories/${repository}`;
    const search = `${base}/search/tests?test_name=*`;
    await service.until<{ size: number }>(search, ({ size }) => size === 4);

    // Health follows a moment after the executions can be read.
    const [{ test_id: id } = { test_id: '' }] = (
      await service.get<Found>(`${base}/search/tests?test_name=${encodeURIComponent(FAILING)}`)
    ).tests;
    await service.until<{ health_status: string }>(
      `${base}/tests/${id}`,
      ({ health_status }) => health_status === 'broken',
    );

    const { tests } = await json<Shown>(repository, ['tests', 'show', FAILING]);
    expect(tests).toMatchObject([
      { test_name: FAILING, health_status: 'broken', failure_ratio: 1, pipeline_name: 'CI', job_name: 'unit' },
    ]);
    const globbed = await json<Shown>(repository, ['tests', 'show', 'cart.*prices', 'cart.*tax, twic?']);
    expect(globbed.tests.map(({ test_name }) => test_name).sort()).toEqual([FAILING, PASSING]);
    const human = await mergify(repository, ['tests', 'show', PASSING]);
    expect([human.code, human.stdout]).toEqual([0, expect.stringMatching(/health: +● healthy/)]);
    const excluded = ['tests', 'show', 'cart.*', '--job-name-exclude', 'unit'];
    expect((await mergify(repository, excluded)).stdout).not.toContain('cart.Totals');
  });
});

describe.skipIf(!python)('mergify tests quarantines', () => {
  interface Listed {
    quarantined_tests: { id: string; test_name: string; branch: string | null; source: string }[];
  }

  test('add, list, get by name and by id, remove by name and by id', async () => {
    const repository = freshRepository('cli');
    const quarantines = (...args: string[]) => mergify(repository, ['tests', 'quarantines', ...args]);
    const added = await json<{ id: string }>(repository, [
      ...['tests', 'quarantines', 'add', FAILING, '--reason', 'see #12', '--branch', 'main'],
    ]);
    expect((await quarantines('add', PASSING, '--reason', 'why')).stdout).toContain(`Quarantined '${PASSING}'`);

    const { quarantined_tests: listed } = await json<Listed>(repository, ['tests', 'quarantines', 'list']);
    expect(listed).toMatchObject([
      { id: added.id, test_name: FAILING, branch: 'main', source: 'manual' },
      { test_name: PASSING, branch: null },
    ]);
    for (const one of [FAILING, added.id])
      expect((await quarantines('get', one)).stdout).toMatch(/branch: +main[\s\S]*reason: +see #12/);
    expect((await quarantines('remove', FAILING)).code).toBe(0);
    expect((await quarantines('remove', listed[1]?.id ?? '')).code).toBe(0);
    expect((await quarantines('list')).stdout).toContain('No quarantined tests found');
    const service = await sharedService();
    expect(await service.get(`/v1/ci/acme/repositories/${repository}/quarantines`)).toMatchObject({ size: 0 });
  });

  test('a list of several pages is shown in full', async () => {
    const repository = freshRepository('cli');
    const service = await sharedService();
    const names = Array.from({ length: 230 }, (_, i) => `test ${i}`);
    for (const name of names) await service.quarantine(repository, name);
    const { quarantined_tests: listed } = await json<Listed>(repository, ['tests', 'quarantines', 'list']);
    expect(listed.map(({ test_name }) => test_name)).toEqual(names);
  });

  test("errors are printed in the service's words", async () => {
    const repository = freshRepository('cli');
    const add = () => mergify(repository, ['tests', 'quarantines', 'add', FAILING, '--reason', 'why']);
    await add();
    const twice = await add();
    expect([twice.code, twice.stderr]).toEqual([
      API_ERROR,
      expect.stringContaining(`409 Conflict: Test '${FAILING}' is already quarantined`),
    ]);
    const gone = await mergify(repository, ['tests', 'quarantines', 'remove', 'unknown']);
    expect([gone.code, gone.stderr]).toEqual([API_ERROR, expect.stringContaining("'unknown' is not quarantined")]);
    const refused = await mergify(repository, ['tests', 'show', '*'], { MERGIFY_TOKEN: 'cii_unknown' });
    expect([refused.code, refused.stderr]).toEqual([
      API_ERROR,
      expect.stringContaining('403 Forbidden: The credential is unknown, expired or revoked.'),
    ]);
  });
});

describe.skipIf(!python)('mergify events', () => {
  interface Log {
    events: { id: number; type: string; pull_request: number | null; trigger: string }[];
  }
  interface Quarantined {
    events: { metadata: { test_name: string } }[];
  }

  test('filters, window and paging: each event is shown once, newest first', async () => {
    const repository = freshRepository('cli');
    const service = await sharedService();
    const label = async (number: number): Promise<void> => {
      const changes = { number, pull_request: { number }, repository: { name: repository, owner: { login: 'acme' } } };
      const { body, headers } = delivery(
        'pull_request',
        payloadOf('pull_request', 'labeled', changes),
        `${number}`,
        crypto.randomUUID(),
      );
      const response = await service.fetch('/webhooks/github', { method: 'POST', body, headers: headers() });
      expect(response.status).toBe(202);
    };
    await label(7);
    await label(8);
    for (let i = 0; i < 130; i++) await service.quarantine(repository, `test ${i}`);
    // Webhooks go through the queue, and the quarantines' events arrive in order.
    const log = `/v1/repos/acme/${repository}/logs`;
    await service.until<{ size: number }>(`${log}?event_type=action.label`, ({ size }) => size === 2);
    await service.until<Quarantined>(
      `${log}?event_type=test.quarantined&per_page=1`,
      ({ events }) => events[0]?.metadata.test_name === 'test 129',
    );

    const all = await json<Log>(repository, ['events', '--limit', '1000']);
    expect(all.events).toHaveLength(132);
    const ids = all.events.map(({ id }) => id);
    expect(ids.every(Number.isSafeInteger)).toBe(true);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => b - a));

    const ofPull = await json<Log>(repository, ['events', '--pr', '7']);
    expect(ofPull.events).toMatchObject([{ type: 'action.label', pull_request: 7 }]);
    const types = ['--type', 'action.label', '--type', 'action.merge'];
    expect((await json<Log>(repository, ['events', ...types])).events).toHaveLength(2);
    const human = await mergify(repository, ['events', '--since', '2h', '--type', 'action.label']);
    expect([human.code, human.stdout]).toEqual([0, expect.stringContaining('action.label')]);
    const unknown = await mergify(repository, ['events', '--type', 'action.nothing']);
    expect([unknown.code, unknown.stderr]).toEqual([API_ERROR, expect.stringContaining('query.event_type')]);
  });
});
