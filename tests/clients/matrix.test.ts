/**
 * A matrix of 2 × 3 with a test that fails on one combination, as its users see it: what `push` prints, where the test
 * fails, the quarantine that is proposed, and `gate` on two legs of a pull request.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Explanation } from '../../src/explain/explanation-schema.ts';
import type { TestAxes } from '../../src/insights/axes.ts';
import { runClient } from './support/client.ts';
import { type Gate, gateJobs } from './support/gate-job.ts';
import { jobEnvironment } from './support/job.ts';
import type { Ran } from './support/run.ts';
import { type ClientService, freshRepository, sharedService } from './support/service.ts';
import { fail, MANY, pass, reportOf } from './support/shop.ts';

const testsSchema = z.array(z.object({ test_id: z.string() }));

interface Leg {
  os: string;
  python: string;
}
const LEGS: Leg[] = ['linux', 'windows'].flatMap((os) => ['3.11', '3.12', '3.13'].map((python) => ({ os, python })));
const COMMITS = 8;
/** Even where it fails it does not always. */
const PASSES_IN = 3;
const PATHS = fail('joins paths', "expected 'a/b', got 'a\\b'");
const NAME = `shop.${PATHS.name}`;

const isIll = ({ os, python }: Leg): boolean => os === 'windows' && python === '3.13';
const axesOf = ({ os, python }: Leg): string[] => ['--axis', `os=${os}`, '--axis', `python=${python}`];
const suite = (failing: boolean): string =>
  reportOf([failing ? PATHS : pass(PATHS.name), ...MANY.map((name) => pass(name))]);

let service: ClientService;
let repository: string;
let folder: string;
let gate: Gate;
/** By the words for the leg, of the last commit. */
const pushed = new Map<string, Ran>();

beforeAll(async () => {
  service = await sharedService();
  repository = freshRepository('matrix');
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-matrix-'));
  gate = gateJobs(service, repository, folder);
  writeFileSync(join(folder, 'passed.xml'), suite(false));
  writeFileSync(join(folder, 'failed.xml'), suite(true));
  for (let number = 1; number < COMMITS; number++) await Promise.all(LEGS.map((leg) => sendLeg(leg, number)));
  await Promise.all(LEGS.map((leg) => pushLeg(leg, COMMITS)));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isFailed = (leg: Leg, number: number): boolean => isIll(leg) && number !== PASSES_IN;

/** As `push` does, without a process for each leg of each commit. */
async function sendLeg(leg: Leg, number: number): Promise<void> {
  const query = new URLSearchParams({
    pipeline_name: 'CI',
    job_name: 'unit',
    run_id: `${number}`,
    commit: `m${number}`,
    branch: 'main',
  });
  for (const [name, value] of Object.entries(leg)) query.append('axis', `${name}:${value}`);
  const base = `/v1/ci/acme/repositories/${repository}`;
  const sent = await service.fetch(`${base}/junit?${query}`, {
    method: 'POST',
    headers: { 'content-type': 'application/xml' },
    body: suite(isFailed(leg, number)),
  });
  const { id } = (await sent.json()) as { id: string };
  await service.until<{ status: string }>(`${base}/uploads/${id}`, ({ status }) => status === 'stored');
}

async function pushLeg(leg: Leg, number: number): Promise<void> {
  const report = isFailed(leg, number) ? 'failed.xml' : 'passed.xml';
  const ran = await runClient('node', ['push', 'junit', report, ...axesOf(leg)], {
    cwd: folder,
    env: {
      ...jobEnvironment(service, { repository, commit: `m${number}`, runId: `${number}` }),
      CI_INSIGHTS_URL: service.origin,
      CI_INSIGHTS_TOKEN: service.token,
    },
  });
  if (ran.code !== 0) throw new Error(ran.printed);
  pushed.set(`os=${leg.os} python=${leg.python}`, ran);
}

const ask = (...args: string[]): Promise<Ran> =>
  runClient('node', [...args, '--repo', `acme/${repository}`], {
    env: { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token },
  });

const addressOfTest = async (): Promise<string> => {
  const [found] = testsSchema.parse(JSON.parse((await ask('tests', NAME, '--json')).stdout));
  return `/v1/ci/acme/repositories/${repository}/tests/${found?.test_id}`;
};

const SENTENCE = 'Fails only with os=windows and python=3.13.';
const SCOPE = { pipeline_name: null, job_name: null, axes: { os: ['windows'], python: ['3.13'] } };
const PROPOSED = /^To quarantine it only there: ci-insights (quarantine add .*)$/m;
const ILL: Leg = { os: 'windows', python: '3.13' };
const WELL: Leg = { os: 'linux', python: '3.12' };

/** The words of a shell command with nothing but quotes in it. */
const wordsOf = (command: string): string[] =>
  [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? '');

/** What `gate` prints of a leg of one run of a pull request, in which the test fails. */
const gated = (leg: Leg, commit: string) =>
  gate({
    report: suite(true),
    ending: 'exit 1',
    args: axesOf(leg),
    env: { GITHUB_SHA: commit, GITHUB_RUN_ID: commit },
  });

test('push names the leg', () => {
  expect(pushed.size).toBe(LEGS.length);
  for (const [words, { stdout, stderr }] of pushed) {
    expect(stderr).toContain(`Leg: ${words}.\n`);
    expect(stdout).toBe('1 report of 1 uploaded: 13 executions accepted, 0 duplicate, 0 rejected.\n');
  }
});

test('the interface and the explanation say where it fails, and what to narrow a quarantine to', async () => {
  const base = await addressOfTest();
  const inside = { failed: COMMITS - 1, ran: COMMITS };
  const outside = { failed: 0, ran: (LEGS.length - 1) * COMMITS };
  const said = { kind: 'axes', sentence: SENTENCE, inside, outside, scope: SCOPE };
  const { fails_with, legs } = await service.get<TestAxes>(`${base}/axes`);
  expect(fails_with).toMatchObject(said);
  expect(legs).toHaveLength(LEGS.length);
  expect(legs[0]).toMatchObject({ axes: ILL, passed: 1, failed: COMMITS - 1 });
  const explained = await service.get<Explanation>(`${base}/explanation`);
  expect(explained.fails_with).toMatchObject(said);
  const ill = explained.identities.filter(({ health_status }) => health_status !== 'healthy');
  expect(ill).toMatchObject([{ axes: ILL }]);
});

test('before there is a quarantine, gate says where it fails, and excuses nothing', async () => {
  const { code, lines } = await gated(ILL, 'before');
  expect(lines).toContain(`                  fails only with os=windows and python=3.13`);
  expect(code).toBe(1);
});

test('the command that why prints quarantines it only there, so only that leg of a run is excused', async () => {
  const before = await ask('why', NAME);
  expect(before.stdout).toContain(`\n${SENTENCE}\n`);
  const command = PROPOSED.exec(before.stdout)?.[1];
  expect(command).toBe("quarantine add 'shop.joins paths' --axis os=windows --axis python=3.13 --reason '…'");
  expect((await ask(...wordsOf(command ?? ''))).stdout).toStartWith(`Quarantined ${NAME}: `);
  expect(JSON.parse((await ask('quarantine', 'list', '--json')).stdout)).toMatchObject([
    { test_name: NAME, branch: null, ...SCOPE, failure_ids: null },
  ]);
  const after = await ask('why', NAME);
  expect(after.stdout).toContain('\nQuarantined on every branch, only with os=windows, python=3.13: …\n');
  expect(after.stdout).not.toMatch(PROPOSED);

  // The well leg is the first, so the other is asked about a commit that has a failure without an excuse.
  const well = await gated(WELL, 'pull');
  expect(well.lines).toContain(`  new             ${NAME}`);
  expect(well.stdout).toMatch(
    /it failed like this on the default branch, last on [\d-]+, but was healthy there in this leg\n/,
  );
  expect(well.stdout).toContain('fails mostly with os=windows and python=3.13: elsewhere 1 of ');
  expect(well.code).toBe(1);

  const ill = await gated(ILL, 'pull');
  expect(ill.lines).toContain(`  quarantined     ${NAME}`);
  expect(ill.lines).toContain('The job passes: every failure is excused.');
  expect(ill.code).toBe(0);

  // And the failure that is excused excuses no other leg.
  expect((await gated({ os: 'linux', python: '3.13' }, 'pull')).code).toBe(1);
});
