/** The comment that the service keeps itself: jobs leave it alone, so there is one. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { until } from '../support/patience.ts';
import { HOST_TOKEN, PullHost } from '../support/pull-host.ts';
import { gateJobs } from './support/gate-job.ts';
import { ClientService } from './support/service.ts';
import { NEW, pass } from './support/shop.ts';

const COMMIT = 'f'.repeat(40);
let host: PullHost;
let service: ClientService;
let folder: string;
beforeAll(async () => {
  host = new PullHost();
  host.head = COMMIT;
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-service-comment-'));
  const port = await freePort();
  service = await ClientService.start({
    PULL_REQUEST_COMMENTS: 'acme/shop',
    PORT: String(port),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    HOSTS: `github=github:${host.origin}`,
    HOST_TOKENS: `github=${HOST_TOKEN}`,
    LOG_LEVEL: 'debug',
  });
});
afterAll(async () => {
  await service?.stop();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('a job that fails leaves the comment to the service, which writes one and shows its token nowhere', async () => {
  const event = join(folder, 'event.json');
  const pull = { number: 7, head: { ref: 'feature/tax', sha: COMMIT }, base: { ref: 'main' } };
  writeFileSync(event, JSON.stringify({ pull_request: pull, repository: { default_branch: 'main' } }));
  const env = {
    ...host.github,
    GITHUB_SERVER_URL: host.origin,
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_EVENT_PATH: event,
  };
  const gate = gateJobs(service, 'shop', folder);
  const ran = await gate({ rows: [NEW, pass('pays')], args: ['--comment'], env });
  expect([ran.code, ran.printed]).toEqual([7, expect.stringContaining('The service keeps the comment')]);
  await until(() => host.own().length > 0);
  expect(host.changes).toHaveLength(1);
  expect(host.own().map(({ body }) => body)).toEqual([
    expect.stringContaining(`](${service.origin}/app/acme/shop/commits/${COMMIT})`),
  ]);
  expect(service.logged.join('\n')).not.toContain(HOST_TOKEN);
});
