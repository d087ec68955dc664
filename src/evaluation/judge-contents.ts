/**
 * Judges what parts of blocks hold of a repository: the suspects among it, the identities that fail for the first time, and
 * its runs.
 */

import { unknownBelief } from '../domain/belief.ts';
import { comparePositions, isTrouble, type JudgedExecution } from '../domain/execution.ts';
import { beliefOfPasses, type CountedPasses, newSuspect, type Suspect, withExecutions } from '../domain/suspect.ts';
import { identityKey, identityOf } from '../domain/test-identity.ts';
import { END_OF_TIME } from '../domain/time.ts';
import type { Executor } from '../postgres/client.ts';
import { type AddedRun, addToRuns, nameOfRun } from '../postgres/judged-runs.ts';
import type { Contents, IdentityContents } from './contents.ts';
import { Judging, type JudgingResult } from './judging.ts';
import { runNameOfExecution } from './run-under-judgement.ts';

export interface KnownOfContents {
  /** By `identityKey`: the suspects among the identities. */
  suspects: ReadonlyMap<string, Suspect>;
  /** By `identityKey`, of identities that are no suspects and went wrong: what was counted before. */
  passes: ReadonlyMap<string, CountedPasses>;
  /** The tests of which the judgements are stale. */
  staleTests: ReadonlySet<string>;
}

export interface JudgedContents extends JudgingResult {
  /** By `identityKey`: suspects with something new. */
  renewed: ReadonlySet<string>;
  /** Undefined if nothing became stale. */
  stale: { since: number; testIds: ReadonlySet<string> } | undefined;
}

/** Adds to the runs, and judges those that began no earlier than the first in which something is new. */
export async function judgeContents(
  tx: Executor,
  repositoryId: string,
  contents: Contents,
  known: KnownOfContents,
): Promise<JudgedContents | undefined> {
  const runs = await addToRuns(tx, repositoryId, [...contents.runs.values()]);
  const from = runs.reduce((first, { startedAt }) => Math.min(first, startedAt), END_OF_TIME);
  const judging = await Judging.of(tx, repositoryId, { from, to: END_OF_TIME });
  const renewed = new Set<string>();
  for (const [key, identity] of contents.identities) {
    const suspect = known.suspects.get(key);
    if (!suspect && !identity.hasTrouble) continue;
    renewed.add(key);
    addIdentity(judging, identity, suspect, known.passes.get(key));
    if (known.staleTests.has(identity.testId)) lowerStale(judging, identity);
  }
  const earlier = runs.filter(({ startedAt, knownStart }) => knownStart !== null && startedAt < knownStart);
  if (renewed.size === 0 && judging.isWithoutTrouble) return undefined;
  for (const run of earlier) await startedEarlier(judging, run);
  const result = await judging.settle();
  return { ...result, renewed, stale: judging.stale };
}

async function startedEarlier(judging: Judging, run: AddedRun): Promise<void> {
  const judged = judging.run(nameOfRun(run));
  if (judged) await judging.startedEarlier(judged);
}

/** When the runs began in which something went wrong; milliseconds since the epoch. */
const troubledStarts = (
  judging: Judging,
  executions: readonly ReturnType<IdentityContents['conclusive']>[number][],
): number[] =>
  executions
    .filter(isTrouble)
    .map((execution) => judging.run(runNameOfExecution(execution))?.startedAt ?? execution.finishedAt);

function addIdentity(
  judging: Judging,
  contents: IdentityContents,
  known: Suspect | undefined,
  passes: CountedPasses | undefined,
): void {
  const executions = contents.conclusive();
  const key = identityKey(contents);
  const starts = troubledStarts(judging, executions);
  if (known) {
    const { suspect, tooLate } = withExecutions(known, executions);
    judging.add(identityOf(contents), suspect);
    if (tooLate.length > 0)
      judging.noteStale(
        contents.testId,
        Math.min(
          ...tooLate.map(({ finishedAt }) => finishedAt),
          ...troubledStarts(
            judging,
            executions.filter((one) => tooLate.includes(one)),
          ),
        ),
      );
  } else
    judging.add(
      identityOf(contents),
      newlyFailed(judging, contents, { executions, passes, from: Math.min(...starts) }),
    );
  for (const execution of executions) {
    const run = isTrouble(execution) ? judging.run(runNameOfExecution(execution)) : undefined;
    if (run) judging.addMember(run, key);
  }
}

interface FirstTrouble {
  executions: readonly JudgedExecution[];
  /** Passes that were counted before. */
  passes: CountedPasses | undefined;
  /** When the first run began in which something went wrong. */
  from: number;
}

/**
 * An identity that has only passed until now. If all that was counted came before the run, nothing is read. Otherwise some
 * of it belongs between what is new, and its history is needed; until then, it counts as if it came before.
 */
function newlyFailed(
  judging: Judging,
  { testId }: IdentityContents,
  { executions, passes, from }: FirstTrouble,
): Suspect {
  const before = executions.filter(({ finishedAt }) => finishedAt < from).sort(comparePositions);
  const counted = passes ?? { passes: 0, at: null, commit: '' };
  const isOutOfOrder = counted.at !== null && counted.at.finishedAt >= from;
  if (isOutOfOrder) judging.noteStale(testId, from);
  const newest = before.at(-1);
  const isNewest = newest !== undefined && (counted.at === null || comparePositions(newest, counted.at) > 0);
  const last = isNewest ? { at: newest, commit: newest.commit } : { at: counted.at, commit: counted.commit };
  const at = isOutOfOrder ? { finishedAt: from - 1, runId: '', runAttempt: 0, executionId: 0n } : positionOf(last.at);
  const start = beliefOfPasses({ passes: counted.passes + before.length, at, commit: last.commit }) ?? unknownBelief();
  return newSuspect(
    start,
    executions.filter(({ finishedAt }) => finishedAt >= from),
  );
}

const positionOf = (at: CountedPasses['at']): CountedPasses['at'] =>
  at && { finishedAt: at.finishedAt, runId: at.runId, runAttempt: at.runAttempt, executionId: at.executionId };

/** New executions of a stale test may be from before the noted moment: then that moves back. */
function lowerStale(judging: Judging, contents: IdentityContents): void {
  const executions = contents.conclusive();
  if (executions.length === 0) return;
  const times = executions.map(({ finishedAt }) => finishedAt);
  judging.noteStale(contents.testId, Math.min(...times, ...troubledStarts(judging, executions)));
}
