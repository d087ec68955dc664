/** Everything that a lively repository has sent in its life, as jobs of the queues. */
import type { PackedJob } from '../../src/queue/packed-job.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { type BundledChunk, packBundle } from '../../src/queue/upload-bundles.ts';
import { randomFrom } from '../support/random.ts';
import { jobOf } from './lively.ts';
import { matrixOf } from './lively-matrix.ts';
import { type LivelyPull, pullsOf, queueRunsOf } from './lively-pulls.ts';
import { type LivelyRepository, SHOP } from './lively-repositories.ts';
import { withScenes } from './lively-scenes.ts';
import { makeWorld } from './world.ts';

/** A job of the queue costs as much as storing some hundred executions, and a run has thirty. */
const BUNDLE_RUNS = 100;
/** The newest run has just ended. */
const NEWEST_MS = 4 * 60_000;

export interface LivelyHistory {
  repository: LivelyRepository;
  executions: number;
  results: readonly PackedJob[];
  pulls: readonly LivelyPull[];
}

/** @param now milliseconds: the history ends a few minutes before */
export function historyOf(repository: LivelyRepository, now: number): LivelyHistory {
  const made = [...makeWorld(repository.world).runs()];
  const shift = now - NEWEST_MS - (made.at(-1)?.at ?? 0);
  const shifted = made.map((run) => ({ ...run, at: run.at + shift }));
  const runs = repository === SHOP ? withScenes(shifted, randomFrom(repository.world.seed)) : shifted;
  const pulls = pullsOf(repository, runs);
  const pullOf = new Map(pulls.flatMap((pull) => pull.commits.map(({ commit }) => [commit, pull])));
  const jobs = [
    ...runs.map((run) => ({ at: run.at, job: jobOf(run, { repository, now, pull: pullOf.get(run.commit) }) })),
    ...queueRunsOf(pulls, runs).map(({ run, pull }) => ({ at: run.at, job: jobOf(run, { repository, now, pull }) })),
    ...(repository === SHOP ? matrixOf(runs, now) : []),
  ].sort((one, other) => one.at - other.at);
  const chunks = jobs.map(
    ({ job }): BundledChunk => ({ id: testRuns.id(job), json: JSON.stringify(job), trace: undefined }),
  );
  return {
    repository,
    executions: jobs.reduce((sum, { job }) => sum + job.executions.key.length, 0),
    results: Array.from({ length: Math.ceil(chunks.length / BUNDLE_RUNS) }, (_, i) =>
      packBundle(`demo-${repository.name}-${i}`, chunks.slice(i * BUNDLE_RUNS, (i + 1) * BUNDLE_RUNS)),
    ),
    pulls,
  };
}
