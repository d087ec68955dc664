/** The verdicts on all executions of one identity together: what is held back, and what is flaky and why. */
import type { JudgedExecution } from './execution.ts';
import { type FlakyRule, flakyOnCommit } from './flakiness.ts';
import { type Hold, heldBack, holdsOf, type Trouble } from './infrastructure.ts';
import { repeatedFailures } from './repetition.ts';

export interface Judged {
  holds: Map<bigint, Hold>;
  /** Executions that prove nothing: `holds` without the released ones. */
  heldBack: Set<bigint>;
  /** Held-back executions are never flaky. */
  flaky: Map<bigint, FlakyRule>;
}

export interface Evidence {
  /** Troubled runs of the pipeline and job, by `runKeyOf`. */
  troubles: ReadonlyMap<string, Trouble>;
  /** The failure group of failed executions. */
  fingerprints: ReadonlyMap<bigint, string>;
  /** Off: nothing is judged flaky. */
  isFlakyDetectionEnabled: boolean;
}

/** Of executions in any order; the one definition that health, statistics and quarantines share. */
export function judge(executions: readonly JudgedExecution[], evidence: Evidence): Judged {
  const holds = holdsOf(executions, evidence.troubles);
  const held = heldBack(holds);
  const flaky = evidence.isFlakyDetectionEnabled
    ? flakyOf(executions, held, evidence.fingerprints)
    : new Map<bigint, FlakyRule>();
  return { holds, heldBack: held, flaky };
}

/** The flaky executions of one identity, with the rule. */
export function flakyOf(
  executions: readonly JudgedExecution[],
  held: ReadonlySet<bigint>,
  fingerprints: ReadonlyMap<bigint, string>,
): Map<bigint, FlakyRule> {
  const evidence = executions.filter((execution) => !held.has(execution.executionId));
  const onCommits = Map.groupBy(evidence, (execution) => execution.commit).values();
  const flaky = new Map([...onCommits].flatMap((group) => [...flakyOnCommit(group)]));
  for (const id of repeatedFailures(executions, held, fingerprints)) if (!flaky.has(id)) flaky.set(id, 'repeated');
  return flaky;
}
