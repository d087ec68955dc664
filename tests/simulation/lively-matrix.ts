/** A nightly matrix of the lively repository, with a test that fails on one combination of it. */
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { makeJob } from '../support/jobs.ts';
import type { Run } from './history.ts';
import { hashOf, runIdOf } from './lively.ts';
import { SHOP } from './lively-repositories.ts';

const NIGHTS = 30;
const LEGS = ['linux', 'windows'].flatMap((os) => ['20', '22', '24'].map((node) => ({ os, node })));
const FILE = 'src/install/package.test.ts';
const TESTS = [
  'unpacks into an empty folder',
  'unpacks over an older version',
  'unpacks paths of more than 260 characters',
  'keeps a changed configuration',
  'refuses a folder without space',
  'removes what it has added',
].map((deed) => `${FILE} > install > ${deed}`);

/** On three nights of four. */
const isIll = (night: number, leg: (typeof LEGS)[number], name: string): boolean =>
  leg.os === 'windows' && leg.node === '24' && name.includes('260') && night % 4 !== 2;

/**
 * The jobs of the nights, each on the newest commit of the default branch.
 *
 * @param runs those of the repository, the oldest first
 * @param now milliseconds: the last night was before
 */
export function matrixOf(runs: readonly Run[], now: number): { at: number; job: TestRunsJob }[] {
  const merged = runs.filter((run) => run.isDefaultBranch);
  return Array.from({ length: NIGHTS }, (_, i) => NIGHTS - 1 - i).flatMap((night) => {
    const at = now - night * DAY_MS - HOUR_MS;
    const newest = merged.findLast((run) => run.at <= at);
    if (!newest) return [];
    return LEGS.map((axes) => ({ at, job: jobOf(newest, { at, now, night, axes }) }));
  });
}

interface Night {
  at: number;
  now: number;
  night: number;
  axes: (typeof LEGS)[number];
}

function jobOf(run: Run, { at, now, night, axes }: Night): TestRunsJob {
  const runId = `9${runIdOf(run)}${night}`;
  const message = "ENAMETOOLONG: name too long, open 'C:\\shop\\node_modules\\…\\index.js'";
  return makeJob({
    repository: { owner: SHOP.owner, name: SHOP.name },
    receivedAt: now,
    source: `${runId} ${axes.os} ${axes.node}`,
    run: {
      pipeline_name: 'Nightly',
      job_name: 'install',
      run_id: runId,
      commit: hashOf(run.commit),
      branch: 'main',
      default_branch: 'main',
      axes,
      ...SHOP.tool,
      job_url: `https://ci.example.com/acme/shop/runs/${runId}/jobs/${axes.os}-${axes.node}`,
    },
    executions: TESTS.map((name, index) => ({
      name,
      filepath: FILE,
      at: at + index * 4_000,
      durationSeconds: 3 + index / 2,
      ...(isIll(night, axes, name) && {
        status: 'failed',
        failures: [{ type: 'Error', message, stacktrace: `Error: ${message}\n    at unpack (${FILE}:41:9)` }],
      }),
    })),
  });
}
