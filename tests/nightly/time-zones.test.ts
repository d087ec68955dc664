/** The service on machines in different time zones: the same reports give the same answers, also when clocks change. */
import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runCommand, ServiceProcess } from '../support/service-process.ts';
import { storedReceipt } from '../support/stored-receipt.ts';

const REPOSITORY = '/v1/ci/acme/repositories/zones';
/** The hour that New York has twice, without a zone and with one, and the days around it. */
const TIMES = [
  '2026-11-01T01:30:00',
  '2026-11-01T05:30:00Z',
  '2026-11-01T06:30:00Z',
  '2026-11-01T23:59:59',
  '2026-11-02T00:00:00',
];

const report = (): string =>
  `<testsuites>${TIMES.map(
    (time, i) =>
      `<testsuite name="s${i}" timestamp="${time}"><testcase classname="c" name="t${i}" time="0.5">${i % 2 ? '<failure message="boom"/>' : ''}</testcase></testsuite>`,
  ).join('')}</testsuites>`;

async function answersIn(zone: string): Promise<unknown> {
  const folder = mkdtempSync(join(tmpdir(), 'ci-insights-zones-'));
  const service = ServiceProcess.onFolder(folder, { TZ: zone });
  try {
    await service.start();
    const query = 'pipeline_name=CI&job_name=unit&run_id=1&run_attempt=1&branch=main&commit=c1&report=r.xml';
    const taken = await service.request(`${REPOSITORY}/junit?${query}`, { method: 'POST', body: report() });
    expect(taken.status).toBe(202);
    const { status_url: address, id } = (await taken.json()) as { status_url?: string; id: string };
    const receipt = address ?? `${REPOSITORY}/uploads/${id}`;
    const read = async (path: string): Promise<unknown> => (await service.request(path)).json();
    await storedReceipt(() => service.request(receipt));
    const { tests } = (await read(`${REPOSITORY}/search/tests?test_name=*`)) as { tests: { test_id: string }[] };
    const window = 'start=2026-10-31T00:00:00Z&end=2026-11-03T00:00:00Z';
    const answers = await Promise.all(
      tests.flatMap(({ test_id }) => [
        read(`${REPOSITORY}/tests/${test_id}/stats/success_count?${window}`),
        read(`${REPOSITORY}/tests/${test_id}/stats/failure_count?${window}`),
        read(`${REPOSITORY}/tests/${test_id}/executions?${window}`),
      ]),
    );
    expect(await service.stop()).toBe(0);
    expect(runCommand(folder, 'verify').code).toBe(0);
    return { tests, answers };
  } finally {
    await service.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

test('answers do not depend on the zone of the machine', async () => {
  const answers = await answersIn('UTC');
  expect(JSON.stringify(answers)).toContain('"value":1');
  expect(await answersIn('America/New_York')).toEqual(answers);
});
