/** Jobs of pull requests that run `gate` on a command: each has a separate folder, commit and run. */
import { expect } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Runtime, runClient } from './client.ts';
import { jobEnvironment } from './job.ts';
import type { Ran } from './run.ts';
import type { ClientService } from './service.ts';
import { type Row, reportOf } from './shop.ts';

export interface GateJob {
  runtime?: Runtime;
  rows?: readonly Row[];
  /** Instead of the report of `rows`. */
  report?: string;
  /** After the report is written. */
  ending?: string;
  args?: readonly string[];
  env?: Record<string, string | undefined>;
  /** Instead of the service's address. */
  url?: string;
}

interface GateRan extends Ran {
  cwd: string;
  commit: string;
  runId: string;
  lines: string[];
}

/** The codes with which the jobs here say that tests failed. */
const GATE = ['gate', 'junit', 'reports', '--failure-codes', '1,7'];

/** Runs a job: its command writes the report and ends as it says. No job prints the key. */
export type Gate = (job: GateJob) => Promise<GateRan>;

export function gateJobs(service: ClientService, repository: string, folder: string): Gate {
  let jobs = 0;
  return async ({
    runtime = 'node',
    rows = [],
    report = reportOf(rows),
    ending = 'exit 7',
    args = [],
    env = {},
    url = service.origin,
  }) => {
    const number = ++jobs;
    const cwd = join(folder, `job-${number}`);
    mkdirSync(cwd);
    writeFileSync(join(cwd, 'written.xml'), report);
    const shell = `mkdir -p reports; cp written.xml reports/unit.xml; echo tests ran; ${ending}`;
    const commit = `pr${number}`;
    const runId = `${1_000 + number}`;
    const ran = await runClient(runtime, [...GATE, ...args, '--', 'sh', '-c', shell], {
      cwd,
      env: {
        ...jobEnvironment(service, { repository, branch: 'feature/tax', commit, runId }),
        GITHUB_STEP_SUMMARY: join(cwd, 'summary.md'),
        CI_INSIGHTS_URL: url,
        CI_INSIGHTS_TOKEN: service.token,
        ...env,
      },
    });
    expect(ran.printed).not.toContain(service.token);
    return { ...ran, cwd, commit, runId, lines: ran.stdout.split('\n') };
  };
}
