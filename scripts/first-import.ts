/**
 * `bun scripts/first-import.ts <github|gitlab> [--end] [--pictures]`: the first minutes with a new service, as a person has them.
 * From an empty folder to the page of a repository with the 300 runs of a local server that answers as the host does, by the
 * clock. Then it sends the same results live, in order, to a second service, and says what is different.
 *
 * `--end` deletes the repository afterwards; `--pictures` takes those of the README.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual, parseArgs } from 'node:util';
import { chromium, type Page } from 'playwright-core';
import { adminKeyFile } from '../src/access/admin-key.ts';
import { DAY_MS } from '../src/domain/time.ts';
import { FakeGithub } from '../tests/support/github-actions.ts';
import { FakeGitlab } from '../tests/support/gitlab-ci.ts';
import { type Live, sendLive } from '../tests/support/live-past.ts';
import { pastOf } from '../tests/support/past.ts';
import { type Get, saidOf } from '../tests/support/said.ts';

const ROOT = resolve(import.meta.dir, '..');
const PATH = 'acme/shop';
const REPOSITORY = { owner: 'acme', name: 'shop' };
const DAYS = 75;
const RUNS_PER_DAY = 4;
const WAIT_MS = 600_000;
const AGAIN_MS = 5_000;
/** So many differences are printed. */
const LEAVES_MAX = 5;
const EXCERPT_LENGTH = 200;
const CHROMIUM = Bun.which('chromium') ?? Bun.which('google-chrome') ?? '';

const HOSTS = {
  github: { make: (past: Past) => new FakeGithub(PATH, past), token: 'gh-token', api: '/api/v3', ci: 'GitHub Actions' },
  gitlab: {
    make: (past: Past) => new FakeGitlab(PATH, past),
    token: 'glpat-of-the-test',
    api: '/api/v4',
    ci: 'GitLab CI',
  },
} as const;
type Past = ReturnType<typeof pastOf>;

const { positionals, values: flags } = parseArgs({
  allowPositionals: true,
  options: { end: { type: 'boolean' }, pictures: { type: 'boolean' } },
});
const kind = positionals[0];
if (kind !== 'github' && kind !== 'gitlab') throw new Error('name a host: github or gitlab');
const hostKind: keyof typeof HOSTS = kind;
const { make, token, api, ci } = HOSTS[kind];

const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const host = make(pastOf({ seed: 3, until: today, days: DAYS, runsPerDay: RUNS_PER_DAY }));
const dataDir = mkdtempSync(join(tmpdir(), 'ci-insights-first-'));
const environment = { ...process.env, DATA_DIR: dataDir, PORT: '0', HOSTS: `${kind}=${kind}:${host.url}` };
let written = '';
const startedAt = performance.now();
const step = (what: string): void =>
  console.log(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(6)} s  ${what}`);

console.log(`${kind}: ${DAYS * RUNS_PER_DAY} runs of 90 days, an empty folder`);
const service = Bun.spawn(['npm', 'start'], {
  cwd: ROOT,
  env: environment,
  terminal: {
    cols: 160,
    data: (_, data) => {
      written += Buffer.from(data).toString();
    },
  },
});
try {
  while (!/#cip_\S+\s/.test(written)) await Bun.sleep(20);
  const link = /http\S+#cip_\S+/.exec(written)?.[0] ?? '';
  step('the address and the link are printed');
  const origin = new URL(link).origin;
  await importInBrowser(link);
  const difference = await differenceToLive(origin);
  console.log(difference.length === 0 ? 'difference: none' : `difference:\n${difference.join('\n')}`);
  if (difference.length > 0) process.exitCode = 1;
  if (flags.end) await endOfRepository(origin);
} finally {
  service.kill('SIGTERM');
  await service.exited;
  await host.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();

async function importInBrowser(link: string): Promise<void> {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    await page.goto(link);
    await page.getByLabel('Repository').fill(PATH);
    step('signed in, and asked for a repository');
    await picture(page, 'first-repository');
    await page.getByRole('combobox', { name: 'CI' }).selectOption(ci);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByLabel('Token of the host').fill(token);
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    await page.getByRole('progressbar').waitFor();
    step('the import has begun');
    await page.getByRole('region', { name: 'What broke the default branch' }).waitFor();
    step('the page of the repository has its first results');
    const home = `${link.slice(0, link.indexOf('/sign-in'))}/${PATH}`;
    await page.goto(`${home}/tests`);
    const firstTest = page.getByRole('link', { name: /test \d+/ }).first();
    step(`the first test is on the page: ${await firstTest.textContent()}`);
    await page.goto(`${home}/setup`);
    if (flags.pictures) {
      await page.getByText(/about .* left/).waitFor();
      await picture(page, 'first-import');
    }
    await page.getByText('finished').waitFor();
    step(`the import is finished: ${await page.getByText(/reports with .* new executions/).textContent()}`);
    await page.goto(home);
    await page.getByRole('region', { name: 'What broke the default branch' }).waitFor();
    await page.waitForLoadState('networkidle');
    step('the page of the repository shows everything');
    await picture(page, 'first-page');
  } finally {
    await browser.close();
  }
}

async function picture(page: Page, name: string): Promise<void> {
  if (!flags.pictures) return;
  await page.screenshot({ path: join(ROOT, 'docs/screenshots', `${name}.png`), animations: 'disabled' });
}

function asker(origin: string): Get {
  const authorization = `Bearer ${readFileSync(adminKeyFile(dataDir), 'utf8').trim()}`;
  return async <T>(path: string): Promise<T> => {
    const response = await fetch(`${origin}${path}`, { headers: { authorization } });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  };
}

/** The answers in which the two services differ, a line for each. */
async function differenceToLive(origin: string): Promise<string[]> {
  const live: Live = await sendLive({
    kind: hostKind,
    url: `${host.url}${api}`,
    token,
    path: PATH,
    since: today - 90 * DAY_MS,
  });
  console.log(`sent live, in order, to a second service: ${live.reports} reports, ${live.pullRequests} pull requests`);
  try {
    const window = { until: today, days: 90 };
    for (const until = performance.now() + WAIT_MS; ; await Bun.sleep(AGAIN_MS)) {
      const [imported, told] = [await allOf(asker(origin), window), await allOf(live.get, window)];
      const difference = [...new Set([...Object.keys(imported), ...Object.keys(told)])].flatMap((name) =>
        leavesOf(imported[name], told[name], name),
      );
      // Durations and causes follow at their own pace on both, the slower the busier the machine is.
      if (difference.length > 0 && performance.now() < until) continue;
      console.log(`compared: ${Object.keys(told).length} answers of each service`);
      return difference;
    }
  } finally {
    await live.stop();
  }
}

/** The innermost values that differ, by their places; some of them. */
function leavesOf(one: unknown, other: unknown, place: string): string[] {
  if (isDeepStrictEqual(one, other)) return [];
  if (!isObject(one) || !isObject(other)) return [`  ${place}: ${excerpt(one)} instead of ${excerpt(other)}`];
  const keys = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...keys].flatMap((key) => leavesOf(one[key], other[key], `${place}.${key}`)).slice(0, LEAVES_MAX);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function excerpt(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, EXCERPT_LENGTH);
}

interface Logged {
  events: { type: string; trigger: string; pull_request: number | null; received_at: string; metadata: unknown }[];
}

/** Verdicts, counts, causes and costs, and the merges of the event log with their times. */
async function allOf(get: Get, window: { until: number; days: number }): Promise<Record<string, unknown>> {
  const from = new Date(window.until - window.days * DAY_MS).toISOString();
  const query = `received_from=${from}&received_to=${new Date(window.until + DAY_MS).toISOString()}`;
  const { events } = await get<Logged>(`/v1/repos/${PATH}/logs?per_page=100&event_type=action.merge&${query}`);
  const merges = events.map(({ type, trigger, pull_request, received_at, metadata }) => ({
    ...{ type, trigger, pull_request, received_at, metadata },
  }));
  return { ...(await saidOf(get, REPOSITORY, window)), merges };
}

async function endOfRepository(origin: string): Promise<void> {
  await command('repos', 'delete', PATH, '--dry-run');
  await command('repos', 'delete', PATH, '--yes');
  const { deletions } = await asker(origin)<{ deletions: unknown[] }>(
    `/v1/ci/${REPOSITORY.owner}/repositories/${REPOSITORY.name}/deletions`,
  );
  console.log(`its receipt: ${JSON.stringify(deletions[0])}`);
  await command('verify');
}

/** Runs a command of the service as an operator does beside it. */
async function command(...args: string[]): Promise<void> {
  console.log(`$ ci-insights ${args.join(' ')}`);
  const child = Bun.spawn([process.execPath, join(ROOT, 'src/cli.ts'), ...args], {
    env: environment,
    stdout: 'inherit',
    stderr: 'inherit',
  });
  if ((await child.exited) !== 0) process.exitCode = 1;
}
