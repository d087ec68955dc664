/** The verdicts on the executions of one identity: which are held back, and which are flaky and why. */
import type { JudgedExecution } from './execution.ts';
import { type FlakyRule, flakyOnCommit } from './flakiness.ts';
import { type Hold, heldBack, holdsOf, type Trouble } from './infrastructure.ts';
import { repeatedFailures } from './repetition.ts';

export interface Judged {
  holds: Map<bigint, Hold>;
  /** Executions that are not evidence: `holds` without the released ones. */
  heldBack: Set<bigint>;
  /** Held-back executions are never flaky. */
  flaky: Map<bigint, FlakyRule>;
}

export interface Evidence {
  /** Troubled runs of the pipeline and CI job, by `runKeyOf`. */
  troubles: ReadonlyMap<string, Trouble>;
  /** The failure groups of failed executions. */
  fingerprints: ReadonlyMap<bigint, string>;
  /** If off, nothing is judged flaky. */
  isFlakyDetectionEnabled: boolean;
}

/** Judges executions in any order: the one definition that health, statistics and quarantines share. */
export function judge(executions: readonly JudgedExecution[], evidence: Evidence): Judged {
  const holds = holdsOf(executions, evidence.troubles);
  const held = heldBack(holds);
  const flaky = evidence.isFlakyDetectionEnabled
    ? flakyOf(executions, held, evidence.fingerprints)
    : new Map<bigint, FlakyRule>();
  return { holds, heldBack: held, flaky };
}

/** The flaky executions of one identity, with the rule that applies. */
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
