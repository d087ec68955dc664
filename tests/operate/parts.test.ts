/** Role `all` is three processes: the API, the workers, and the one with the embedded ClickHouse. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { isRunning } from '../../src/processes.ts';
import { makeFolder } from '../support/folder.ts';
import { packedReport } from '../support/packed-report.ts';
import { PATIENCE_MS, until } from '../support/patience.ts';
import { processTree } from '../support/process-tree.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { storedReceipt } from '../support/stored-receipt.ts';

let dataDir: string;
let service: ServiceProcess;

beforeAll(async () => {
  dataDir = makeFolder('api');
  service = ServiceProcess.onFolder(dataDir);
  await service.start();
});
afterAll(async () => {
  await service.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const REPOSITORY = '/v1/ci/acme/repositories/shop';

const upload = (run: number): Promise<Response> =>
  service.request(`${REPOSITORY}/junit?pipeline_name=CI&job_name=unit&branch=main&run_id=${run}`, {
    method: 'POST',
    headers: { 'content-encoding': 'gzip', 'content-type': 'application/xml' },
    body: packedReport(20, 10),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });

async function stored(response: Response): Promise<{ accepted: number }> {
  const { url } = (await response.json()) as { url: string };
  return storedReceipt(() => service.request(url));
}

const pidOf = (script: string): number => {
  const [one] = processTree(service.pid).filter(({ command }) => command.includes(script));
  if (!one) throw new Error(`no process runs ${script}`);
  return one.pid;
};
const apiPid = (): number => pidOf('src/api/process.ts');
const workersPid = (): number => pidOf('workers/process.ts');

describe.each([
  ['of the embedded ClickHouse', () => service.pid, 1],
  ['of the workers', workersPid, 3],
] as const)('while the process %s stands still', (_, pidOfPart, run) => {
  test('probes and lists of quarantines are answered, and uploads are taken; they are stored when it continues', async () => {
    expect(await stored(await upload(run))).toMatchObject({ accepted: 20 });
    const statusOf = async (path: string): Promise<number> =>
      (await service.request(path, { signal: AbortSignal.timeout(PATIENCE_MS) })).status;
    const pid = pidOfPart();
    process.kill(pid, 'SIGSTOP');
    let taken: Response;
    try {
      expect(await statusOf('/healthz/live')).toBe(200);
      expect(await statusOf(`${REPOSITORY}/quarantines?branch=main`)).toBe(200);
      taken = await upload(run + 1);
      expect(taken.status).toBe(202);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    expect(await stored(taken)).toMatchObject({ accepted: 20 });
    const found = await service.request(`${REPOSITORY}/search/tests?test_name=*&per_page=100`);
    expect(((await found.json()) as { size: number }).size).toBe(20);
  });
});

test('executions of a test are answered while workers stand still', async () => {
  const found = await service.request(`${REPOSITORY}/search/tests?test_name=*&per_page=1`);
  const { tests } = (await found.json()) as { tests: { test_id: string }[] };
  const pid = workersPid();
  process.kill(pid, 'SIGSTOP');
  try {
    const address = `${REPOSITORY}/tests/${tests[0]?.test_id}/executions`;
    expect((await service.request(address, { signal: AbortSignal.timeout(PATIENCE_MS) })).status).toBe(200);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
});

test('workers yield to the process that answers, and so does what PostgreSQL does for them', () => {
  const tree = processTree(service.pid);
  const nicenessOf = (part: RegExp): number[] =>
    tree.filter(({ command }) => part.test(command)).map(({ niceness }) => niceness);
  const [api = 0] = nicenessOf(/src\/api\/process\.ts/);
  expect(tree.find(({ pid }) => pid === service.pid)?.niceness).toBeGreaterThan(api);
  expect(Math.min(...nicenessOf(/workers\/process\.ts/))).toBeGreaterThan(api);
  const connections = nicenessOf(/^postgres: .*ci_insights/);
  expect(Math.min(...connections)).toBe(api);
  expect(Math.max(...connections)).toBeGreaterThan(api);
});

test('the metrics are those of all processes', async () => {
  const text = await (await service.request('/metrics')).text();
  expect(text).toMatch(/^ci_insights_executions_stored_total 80$/m);
  expect(text).toMatch(
    /^ci_insights_http_request_duration_seconds_count\{route="[^"]+junit[^"]*",method="POST",status="2xx"\} 4$/m,
  );
  expect(text).toMatch(/^ci_insights_build_info\{.*role="all"\} 1$/m);
});

describe('the processes end together', () => {
  test('when the one of the embedded ClickHouse is killed', async () => {
    const others = [apiPid(), workersPid()];
    await service.kill();
    await until(() => !others.some(isRunning));
    await service.start();
  });

  test('when the one that answers is killed: the service stops as usual, and ends with 1', async () => {
    const { pid } = service;
    process.kill(apiPid(), 'SIGKILL');
    await until(() => !isRunning(pid));
    expect(service.logged).toContain('the process that answers requests has ended');
    expect(await service.stop()).toBe(1);
    await service.start();
  });

  test('when the one of the workers is killed: the service stops as usual, and ends with 1', async () => {
    const { pid } = service;
    const api = apiPid();
    process.kill(workersPid(), 'SIGKILL');
    await until(() => !isRunning(pid) && !isRunning(api));
    expect(service.logged).toContain('the process of the workers has ended');
    expect(await service.stop()).toBe(1);
    await service.start();
  });

  // The last one: the service is not started again.
  test('when it is stopped', async () => {
    const others = [apiPid(), workersPid()];
    expect(await service.stop()).toBe(0);
    expect(others.some(isRunning)).toBe(false);
  });
});
