/** `mergify ci junit-process`, unmodified: the last open-source CLI, and one from before June 2026 that asks `quarantines/check`. */
import { afterAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  FAILING,
  FAILING_SECONDS,
  PASSING,
  QUARANTINED,
  reportFolder,
  SKIPPED,
} from '../clients/support/cart-report.ts';
import { type JobOptions, jobEnvironment } from '../clients/support/job.ts';
import { pythonEnvironment } from '../clients/support/python.ts';
import { run } from '../clients/support/run.ts';
import { freshRepository, sharedService } from '../clients/support/service.ts';

interface Found {
  tests: { test_id: string; test_name: string }[];
}

const folder = reportFolder();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const [newest, older] = await Promise.all([pythonEnvironment('newest'), pythonEnvironment('older')]);

describe.each([
  ['mergify-cli 2026.10.3', newest, []],
  ['mergify-cli 2025.10.17.1', older, ['--tests-target-branch', 'main']],
])('%s', (_, python, more) => {
  const process = async (job: JobOptions) => {
    const service = await sharedService();
    const command = [join(python?.bin ?? '', 'mergify'), 'ci', 'junit-process', ...more, 'unit.xml'];
    return { service, ran: await run(command, { cwd: folder, env: jobEnvironment(service, job) }) };
  };

  test.skipIf(!python)(
    'failures that are not quarantined fail the job; the report arrives complete, with durations although they are sent ten times too long',
    async () => {
      const repository = freshRepository('junit');
      const { service, ran } = await process({ repository });
      expect([ran.code, ran.printed]).toEqual([1, expect.stringContaining(FAILING)]);
      expect(ran.printed).toContain(QUARANTINED);

      const base = `/v1/ci/acme/repositories/${repository}`;
      const { tests } = await service.until<Found>(
        `${base}/search/tests?test_name=*`,
        (found) => found.tests.length === 4,
      );
      expect(tests.map(({ test_name }) => test_name).sort()).toEqual([FAILING, SKIPPED, PASSING, QUARANTINED].sort());
      const { test_id: id } = tests.find(({ test_name }) => test_name === FAILING) ?? { test_id: '' };
      // A test appears a moment before its failures: one insert fills the tables one after another.
      const { failures } = await service.until<{ failures: object[] }>(
        `${base}/tests/${id}/failures`,
        (found) => found.failures.length > 0,
      );
      expect(failures).toMatchObject([
        { exception_type: 'AssertionError', exception_message: 'expected 110.00, got 110.01', failure_count: 1 },
      ]);
      const { value } = await service.get<{ value: number }>(`${base}/tests/${id}/stats/mean_duration`);
      expect(value).toBeCloseTo(FAILING_SECONDS, 3);
    },
  );

  test.skipIf(!python)('quarantined failures do not fail the job, and insights count them all the same', async () => {
    const repository = freshRepository('junit');
    const service = await sharedService();
    await service.quarantine(repository, FAILING);
    await service.quarantine(repository, QUARANTINED);
    const { ran } = await process({ repository });
    expect([ran.code, ran.printed]).toEqual([0, expect.stringContaining('Quarantined')]);

    const base = `/v1/ci/acme/repositories/${repository}`;
    const search = `${base}/search/tests?test_name=${encodeURIComponent(QUARANTINED)}`;
    const { tests } = await service.until<Found>(search, (found) => found.tests.length === 1);
    const details = await service.until<{ failure_ratio: number | null }>(
      `${base}/tests/${tests[0]?.test_id}`,
      ({ failure_ratio }) => failure_ratio !== null,
    );
    expect(details).toMatchObject({ last_conclusion: 'failed', failure_ratio: 1 });
  });

  test.skipIf(!python)(
    'a quarantine of another branch does not help this one, and a narrowed one does not help a client that cannot narrow',
    async () => {
      const repository = freshRepository('junit');
      const service = await sharedService();
      await service.quarantine(repository, FAILING);
      const narrowings = [{ job_name: 'unit' }, { pipeline_name: 'CI' }, { failure_ids: [crypto.randomUUID()] }];
      for (const scope of [{ branch: 'release/*' }, ...narrowings])
        await service.quarantine(repository, QUARANTINED, scope);
      expect((await process({ repository })).ran.code).toBe(1);
    },
  );
});
