/** A made-up past of a repository: reports with their runs and times, as files with a manifest, and as live uploads. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { randomFrom } from './random.ts';

export interface PastReport {
  file: string;
  body: string;
  /** Milliseconds since the epoch. */
  arrivedAt: number;
  /** As the manifest has it. */
  run: Record<string, unknown> & { pipeline_name: string; job_name: string; run_id: string };
}

interface PastOptions {
  seed: number;
  /** When it ends. */
  until: number;
  days: number;
  runsPerDay?: number;
  tests?: number;
}

/** Tests by how they behave. */
const isFlaky = (test: number): boolean => test < 24 && test % 7 === 3;
const isBroken = (test: number, day: number, days: number): boolean =>
  test === 5 && day > days / 2 && day < days / 2 + 4;

/**
 * Runs of two legs on the default branch, and of pull requests; with flaky tests, a test that is broken for days, second
 * attempts, an outage, and reports without times.
 */
export function pastOf({ seed, until, days, runsPerDay = 4, tests = 24 }: PastOptions): PastReport[] {
  const random = randomFrom(seed);
  const reports: PastReport[] = [];
  for (let day = 0; day < days; day++)
    for (let run = 0; run < runsPerDay; run++) {
      const startedAt =
        until - (days - day) * DAY_MS + run * (DAY_MS / runsPerDay - HOUR_MS) + Math.floor(random() * HOUR_MS);
      const pull = random() < 0.3 ? 1 + Math.floor(random() * 9) : undefined;
      const isOutage = random() < 0.02;
      const runId = String(10_000 + day * runsPerDay + run);
      const commit = Math.floor(random() * 16 ** 8)
        .toString(16)
        .padStart(40, '0');
      for (const [leg, os] of ['linux', 'windows'].entries())
        for (let attempt = 1; attempt <= 2; attempt++) {
          const at = startedAt + leg * 2 * MINUTE_MS + attempt * 10 * MINUTE_MS;
          const cases = Array.from({ length: tests }, (_, test) => {
            const chance = isFlaky(test) && (leg === 1 || test < 10) ? 0.25 : 0;
            const hasFailed = isOutage || isBroken(test, day, days) || random() < chance || (pull === 3 && test === 8);
            const name = `test ${test}`;
            const seconds = Math.round(100 + random() * 900) / 1_000;
            return { name, failure: hasFailed ? `${name} is off` : undefined, seconds };
          });
          const hasTimes = random() < 0.7;
          reports.push({
            file: `${runId}/${os}-${attempt}.xml`,
            body: junitOf(cases, hasTimes ? at : undefined),
            arrivedAt: at + 5 * MINUTE_MS,
            run: {
              pipeline_name: 'CI',
              job_name: 'unit',
              run_id: runId,
              run_attempt: attempt,
              axes: { os },
              commit,
              branch: pull === undefined ? 'main' : `feature-${pull}`,
              ...(pull !== undefined && { pull_request: pull, base_ref: 'main' }),
              default_branch: 'main',
            },
          });
          if (!cases.some(({ failure }) => failure !== undefined) || random() < 0.4) break;
        }
    }
  return reports.sort((one, other) => one.arrivedAt - other.arrivedAt);
}

interface Case {
  name: string;
  /** The message; undefined if it passed. */
  failure: string | undefined;
  seconds: number;
}

/** @param at when it began, in milliseconds since the epoch; undefined: a report without times */
export function junitOf(cases: readonly Case[], at: number | undefined): string {
  const timestamp = at === undefined ? '' : ` timestamp="${new Date(at).toISOString()}"`;
  const lines = cases.map(({ name, failure, seconds }) => {
    const head = `<testcase classname="shop" name="${escaped(name)}" time="${seconds}"`;
    return failure === undefined
      ? `${head}/>`
      : `${head}><failure type="AssertionError" message="${escaped(failure)}"/></testcase>`;
  });
  return `<testsuite name="shop"${timestamp}>${lines.join('')}</testsuite>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
};
const escaped = (text: string): string =>
  text.replace(/[&<>"\n]/g, (character) => ENTITIES[character] ?? '').replace(/\p{Cc}/gu, ' ');

/** Writes the reports and their manifest, whose lines are in no order. Returns the path of the manifest. */
export function writePast(folder: string, reports: readonly PastReport[], seed: number): string {
  const random = randomFrom(seed);
  for (const { file, body } of reports) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), body);
  }
  const lines = reports.map((report) => ({ order: random(), line: JSON.stringify(manifestLineOf(report)) }));
  lines.sort((one, other) => one.order - other.order);
  const manifest = join(folder, 'manifest.jsonl');
  writeFileSync(manifest, `${lines.map(({ line }) => line).join('\n')}\n`);
  return manifest;
}

export const manifestLineOf = ({ file, arrivedAt, run }: PastReport): Record<string, unknown> => ({
  file,
  ...run,
  arrived_at: new Date(arrivedAt).toISOString(),
});

/** The address of a live upload of the report. */
export function liveAddressOf({ owner, name }: { owner: string; name: string }, { file, run }: PastReport): string {
  const { axes, ...plain } = run;
  const query = new URLSearchParams({ report: file });
  for (const [parameter, value] of Object.entries(plain)) query.set(parameter, String(value));
  for (const [axis, value] of Object.entries(axes ?? {})) query.append('axis', `${axis}:${value}`);
  return `/v1/ci/${owner}/repositories/${name}/junit?${query}`;
}
