/** `gate` in a job that meets a quarantined cause: its failures are excused, another failure of the same test is not. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Gate, gateJobs } from './support/gate-job.ts';
import { type ClientService, sharedService } from './support/service.ts';
import { BROKEN, fail, shopWithHistory } from './support/shop.ts';

let service: ClientService;
let repository: string;
let folder: string;
let gate: Gate;
beforeAll(async () => {
  service = await sharedService();
  repository = await shopWithHistory();
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-cause-'));
  gate = gateJobs(service, repository, folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Causes {
  causes: { cause_id: string; newest_test: { test_name: string } }[];
}

test('gate passes with a failure of a quarantined cause, and fails with another failure of the same test', async () => {
  const base = `/v1/ci/acme/repositories/${repository}/causes`;
  const name = `shop.${BROKEN.name}`;
  const causeOf = ({ causes }: Causes) => causes.find(({ newest_test: { test_name: newest } }) => newest === name);
  const found = await service.until<Causes>(base, (causes) => causeOf(causes) !== undefined);
  expect((await gate({ rows: [BROKEN] })).code).toBe(7);
  const response = await service.fetch(`${base}/${causeOf(found)?.cause_id}/quarantine`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ reason: 'the files are away' }),
  });
  expect(response.status).toBe(201);
  const excused = await gate({ rows: [BROKEN] });
  expect([excused.code, excused.stdout]).toEqual([0, expect.stringContaining('quarantined')]);
  expect((await gate({ rows: [fail(BROKEN.name, 'shipped to the moon')] })).code).toBe(7);
});
