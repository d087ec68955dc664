/** Runs of a repository as a test tells them, and what the judgement says of its tests (src/domain/judge-runs.ts). */
import { type Belief, newBelief } from '../../src/domain/belief.ts';
import { contradictionsOf, pullRequestRunKeyOf } from '../../src/domain/contradictions.ts';
import { isTrouble, type JudgedExecution, runKeyOf } from '../../src/domain/execution.ts';
import { type JudgedRuns, judgeRuns, noneFailed, runNameOf } from '../../src/domain/judge-runs.ts';

/** What a test did in a run. `retried`: it passed, after failed attempts. */
export type Told = 'passed' | 'failed' | 'retried';

export interface ToldRun {
  at: number;
  job: string;
  commit: string;
  /** By the name of the test; tests that passed may be left out, if they only ever passed. */
  tests: ReadonlyMap<string, Told>;
  /** How many tests ran. */
  executions: number;
  isPullRequest?: boolean;
}

/** Names an identity in {@link judge}. */
const toldIdentity = (test: string, job: string): string => `${test} in ${job}`;

export function judge(told: readonly ToldRun[]): JudgedRuns & { belief(test: string, job: string): Belief } {
  const executions = told.flatMap((run, i) =>
    [...run.tests].map(([test, result], j) => ({
      identity: toldIdentity(test, run.job),
      run,
      execution: {
        executionId: BigInt(i) * 100_000n + BigInt(j),
        status: result === 'failed' ? ('failed' as const) : ('passed' as const),
        finishedAt: run.at,
        runId: `r${i}`,
        runAttempt: 1,
        commit: run.commit,
        isFlakyWithinRun: result === 'retried',
        isRetried: result === 'retried',
      } satisfies JudgedExecution,
    })),
  );
  const byIdentity = Map.groupBy(executions, ({ identity }) => identity);
  const contradictions = new Map(
    [...byIdentity].map(([identity, all]) => [
      identity,
      contradictionsOf(all.filter(({ run }) => run.isPullRequest).map(({ execution }) => execution)),
    ]),
  );
  const named = new Set(
    [...contradictions].flatMap(([identity, all]) =>
      all.map(({ run }) => runNameOf(byIdentity.get(identity)?.[0]?.run.job ?? '', run)),
    ),
  );
  const byRun = Map.groupBy(executions, ({ run, execution }) =>
    runNameOf(run.job, run.isPullRequest ? pullRequestRunKeyOf(execution) : runKeyOf(execution)),
  );
  const result = judgeRuns({
    recent: [],
    usual: new Map(),
    known: new Map(),
    runs: [...byRun].flatMap(([key, all]) => {
      const run = all[0]?.run;
      if (!run || (run.isPullRequest && !named.has(key))) return [];
      const troubled = new Set(all.flatMap(({ identity, execution }) => (isTrouble(execution) ? [identity] : [])));
      const { at: startedAt, executions: count } = run;
      return [
        {
          key,
          place: run.job,
          startedAt,
          executions: count,
          isOnDefaultBranch: !run.isPullRequest,
          troubled,
          others: noneFailed(),
        },
      ];
    }),
    identities: new Map(
      [...byIdentity].map(([identity, all]) => [
        identity,
        {
          place: all[0]?.run.job ?? '',
          belief: newBelief(),
          at: null,
          executions: all.flatMap(({ run, execution }) => (run.isPullRequest ? [] : [execution])),
          clues: contradictions.get(identity) ?? [],
        },
      ]),
    ),
  });
  return { ...result, belief: (test, job) => result.courses.get(toldIdentity(test, job))?.belief ?? newBelief() };
}
