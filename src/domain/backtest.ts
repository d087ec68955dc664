/**
 * A backtest: what a policy of automatic quarantine would have done, had it been on since some moment. Pure. The policy
 * learns of executions in the order in which they finished, and never of what came later.
 *
 * - It quarantines a test when the service would, and releases it as soon as it has recovered, as a person would who reads
 *   the board daily. From then on only new evidence counts against the test, as after any release.
 * - A *red run* is an attempt of a CI job, on any branch and on one UTC day, in which a test failed. It is *spared* if
 *   every test that failed in it was in quarantine before its first test finished, for each of these failures.
 */
import type { JudgedExecution } from './execution.ts';
import { type Leg, legKey, legOf } from './test-identity.ts';

/** One attempt of a leg of a CI job, as one test saw it. Nothing finished in between. */
export interface Step<E extends JudgedExecution = JudgedExecution> extends Leg {
  /** In order; at least one. */
  executions: readonly E[];
}

/** Applies a policy to one test, step after step. The rules behind it can be others: see backtest-judge.ts. */
export interface PolicyJudge<E extends JudgedExecution = JudgedExecution> {
  add(step: Step<E>): void;
  /**
   * Why the test should be quarantined now, and for which failure groups (null: all); undefined if it should not.
   *
   * @param releasedAt What was known then does not count; 0 if it never was quarantined.
   */
  verdict(releasedAt: number): { reason: string; failureIds: ReadonlySet<string> | null } | undefined;
  /** Whether the test, in quarantine since then, has recovered by now. */
  isRecovered(quarantinedAt: number): boolean;
}

/** A quarantine that the policy would have made. Milliseconds since the epoch. */
export interface ReplayedQuarantine {
  reason: string;
  failureIds: ReadonlySet<string> | null;
  from: number;
  /** When the test had recovered; null: not by the end. */
  until: number | null;
}

/** Replays the policy on one test. */
export class TestReplay<E extends JudgedExecution = JudgedExecution> {
  readonly quarantines: ReplayedQuarantine[] = [];

  /** @param since when the policy was switched on; earlier steps are known, but lead to no quarantine. */
  constructor(
    private readonly judge: PolicyJudge<E>,
    private readonly since: number,
  ) {}

  add(step: Step<E>): void {
    this.judge.add(step);
    const at = step.executions.at(-1)?.finishedAt ?? 0;
    if (at < this.since) return;
    const last = this.quarantines.at(-1);
    if (last && last.until === null) {
      if (this.judge.isRecovered(last.from)) last.until = at;
      return;
    }
    const verdict = this.judge.verdict(last?.until ?? 0);
    if (verdict) this.quarantines.push({ ...verdict, from: at, until: null });
  }
}

/** The steps of a test, from its executions in order. */
export function* stepsOf<E extends JudgedExecution & Leg>(ordered: readonly E[]): Generator<Step<E>> {
  let step: E[] = [];
  for (const [i, execution] of ordered.entries()) {
    step.push(execution);
    const next = ordered[i + 1];
    if (next && isOneStep(execution, next)) continue;
    yield { ...legOf(execution), executions: step };
    step = [];
  }
}

type Placed = JudgedExecution & Leg;
const isOneStep = (one: Placed, other: Placed): boolean =>
  one.runId === other.runId && one.runAttempt === other.runAttempt && legKey(one) === legKey(other);

/** Whether a quarantine was in effect. One that was made at this very moment came too late. */
const isInEffect = ({ from, until }: ReplayedQuarantine, at: number): boolean =>
  from < at && (until === null || at < until);

/**
 * The quarantine of a test that excuses its failures at this time, if any.
 *
 * @param groups The failure groups of these failures; undefined or empty where a report gave no details.
 */
export const excusedBy = (
  quarantines: readonly ReplayedQuarantine[],
  at: number,
  groups: readonly (string | undefined)[],
): ReplayedQuarantine | undefined =>
  quarantines.find(
    (one) => isInEffect(one, at) && groups.every((id) => one.failureIds === null || one.failureIds.has(id ?? '')),
  );

/** How many quarantines were in effect at once, at most. */
export function mostAtOnce(quarantines: Iterable<Pick<ReplayedQuarantine, 'from' | 'until'>>): number {
  const changes: [at: number, by: 1 | -1][] = [];
  for (const { from, until } of quarantines) {
    changes.push([from, 1]);
    if (until !== null) changes.push([until, -1]);
  }
  // At one moment, those that end make room for those that begin.
  changes.sort(([one, by], [other, otherBy]) => one - other || by - otherBy);
  let [now, most] = [0, 0];
  for (const [, by] of changes) {
    now += by;
    most = Math.max(most, now);
  }
  return most;
}
