/** The settings of a repository over HTTP. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { eq } from 'drizzle-orm';
import { eventOutbox } from '../../src/postgres/schema.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { uniqueRepository } from '../support/stores.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

const addressOf = ({ owner, name }: { owner: string; name: string }) => `/v1/ci/${owner}/repositories/${name}/settings`;
const change = (repository: { owner: string; name: string }, body: unknown, token = app.adminToken) =>
  app.request(addressOf(repository), {
    method: 'PATCH',
    token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

const DEFAULTS = {
  default_branch: null,
  default_branch_source: null,
  flaky_detection_enabled: true,
  auto_quarantine: 'off',
  quarantine_limit: null,
  quarantine_warning_days: 3,
  rerun_percent: null,
  test_owners: [],
  ci_minute_price: null,
  waiting_hour_price: null,
  event_retention_days: null,
  rename_confidence_min: null,
  execution_retention_days: null,
  forget_tests_after_days: null,
  host_page: null,
};

describe('the settings of a repository', () => {
  test('are the defaults before its first upload, and those that are stored are the same', async () => {
    const repository = uniqueRepository();
    expect(await app.get(addressOf(repository))).toEqual(DEFAULTS);
    await app.stores.repositories.record(repository);
    expect(await app.get(addressOf(repository))).toEqual(DEFAULTS);
  });

  test('change one by one: what a request leaves out stays, and null takes a limit back', async () => {
    const repository = uniqueRepository();
    const first = await change(repository, { quarantine_limit: 20, rerun_percent: 10 });
    expect(await first.json()).toEqual({ ...DEFAULTS, quarantine_limit: 20, rerun_percent: 10, needs_rebuild: false });
    await change(repository, { quarantine_limit: null, quarantine_warning_days: 0 });
    expect(await app.get(addressOf(repository))).toEqual({
      ...DEFAULTS,
      rerun_percent: 10,
      quarantine_warning_days: 0,
    });
  });

  test('say when stored executions follow the settings before', async () => {
    const repository = uniqueRepository();
    const needsRebuild = async (body: unknown) =>
      ((await (await change(repository, body)).json()) as { needs_rebuild: boolean }).needs_rebuild;
    expect(await needsRebuild({ default_branch: 'refs/heads/main' })).toBe(false);
    expect(await app.get(addressOf(repository))).toMatchObject({
      default_branch: 'main',
      default_branch_source: 'setting',
    });
    expect(await needsRebuild({ default_branch: 'main' })).toBe(false);
    expect(await needsRebuild({ default_branch: 'trunk' })).toBe(true);
    expect(await needsRebuild({ flaky_detection_enabled: false })).toBe(true);
    expect(await needsRebuild({ flaky_detection_enabled: false, quarantine_limit: 5 })).toBe(false);
  });

  test('are in the event log under the name of who changed auto-quarantine', async () => {
    const repository = uniqueRepository();
    const token = await app.makeKey({ name: 'ann', owner: repository.owner, scope: 'admin' });
    expect((await change(repository, { auto_quarantine: 'flaky' }, token)).status).toBe(200);
    const { id } = await app.stores.repositories.record(repository);
    const events = await app.stores.postgres.db.select().from(eventOutbox).where(eq(eventOutbox.repositoryId, id));
    const [event] = events.map(({ type, trigger, metadata }) => ({ type, trigger, ...JSON.parse(metadata) }));
    expect(event).toMatchObject({
      type: 'ci_insights.auto_quarantine.enabled',
      trigger: 'ann',
      enabled_by: { type: 'application', id: expect.any(String), name: 'ann' },
    });
  });

  test.each([
    [{}, 'Send at least one of default_branch'],
    [{ of_a_newer_client: 1 }, 'Send at least one of default_branch'],
    [{ quarantine_limit: 0 }, 'body.quarantine_limit: must be a whole number from 1 to 100000, or null for no limit.'],
    [{ quarantine_warning_days: 91 }, 'body.quarantine_warning_days: must be a whole number from 0 to 90.'],
    [{ quarantine_warning_days: null }, 'body.quarantine_warning_days: must be a whole number from 0 to 90.'],
    [{ ci_minute_price: -1 }, 'body.ci_minute_price: must be a number from 0 to 100000, or null for none.'],
    [{ rerun_percent: 1.5 }, 'body.rerun_percent: must be a whole number from 1 to 100, or null for none.'],
    [{ auto_quarantine: 'all' }, 'body.auto_quarantine: must be one of off, flaky, flaky+broken.'],
    [{ flaky_detection_enabled: 'yes' }, 'body.flaky_detection_enabled: must be true or false.'],
    [{ default_branch: '' }, 'body.default_branch: is empty.'],
    [{ default_branch: 'x'.repeat(256) }, 'body.default_branch: is longer than 255 characters.'],
    [{ default_branch: null }, 'body.default_branch: must be the name of a branch.'],
  ])('are refused whole if one is wrong: %j', async (body, detail) => {
    const repository = uniqueRepository();
    const refused = await change(repository, body);
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining(detail)]);
    expect(await app.get(addressOf(repository))).toEqual(DEFAULTS);
  });
});
