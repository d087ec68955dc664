/** Writes what a judgement found: suspects, runs, changes of health, and executions that count as flaky. */
import { ownFailureOf } from '../domain/activity.ts';
import { shownChanges, shownHealth } from '../domain/belief-course.ts';
import { healthConfidence } from '../domain/health-confidence.ts';
import { afterCourse, flakyChanges, type Suspect } from '../domain/suspect.ts';
import { type Identity, identityKey, identityOf } from '../domain/test-identity.ts';
import { END_OF_TIME } from '../domain/time.ts';
import { writeBelief } from '../postgres/belief-text.ts';
import type { Executor } from '../postgres/client.ts';
import { changeFlakyExecutions, type IdentifiedFlakyChange } from '../postgres/flaky-executions.ts';
import {
  forgetHealthChanges,
  type HealthChangeRecord,
  readChangesAfter,
  writeHealthChanges,
} from '../postgres/health-changes.ts';
import { ranAmong } from '../postgres/identities.ts';
import { foldHealths } from '../postgres/job-legs.ts';
import { writeMeanings } from '../postgres/judged-runs.ts';
import { type SuspectRecord, writeSuspects } from '../postgres/suspects.ts';
import { type IdentifiedChange, recordsOf } from './beginnings.ts';
import type { JudgedSuspect, JudgingResult } from './judging.ts';

export interface WriteOptions {
  isFlakyDetectionEnabled: boolean;
  /** By `identityKey`: suspects with new executions, which are written though their belief may be the same. */
  renewed: ReadonlySet<string>;
  /** Everything before was judged; milliseconds since the epoch. */
  until?: number;
}

/** Tests that a refresh has to look at. */
export interface Written {
  /** Tests of which a beginning is to be looked up. */
  begun: ReadonlySet<string>;
  /** Tests that are flaky or broken in a pipeline and CI job, or were until now. */
  unhealthy: ReadonlySet<string>;
}

export async function writeJudgements(
  tx: Executor,
  repositoryId: string,
  { suspects, runs }: JudgingResult,
  options: WriteOptions,
): Promise<Written> {
  await writeMeanings(tx, repositoryId, runs);
  const after = new Map(
    [...suspects].flatMap(([key, judged]): [string, Settled][] => {
      const suspect = afterCourse(judged.suspect, judged.course);
      return !options.renewed.has(key) && isUnchanged(judged.suspect, suspect)
        ? []
        : [[key, settled(judged, suspect, options)]];
    }),
  );
  const isRecent = ({ suspect }: Settled): boolean => suspect.recent.length > 0;
  const ran = await ranAmong(
    tx,
    repositoryId,
    [...after.values()].filter((one) => !isRecent(one)),
  );
  const seen = new Set([...after].flatMap(([key, one]) => (isRecent(one) || ran.has(key) ? [key] : [])));
  await writeSuspects(
    tx,
    repositoryId,
    [...after].map(([key, one]) => recordOf(one, seen.has(key), options)),
  );
  await foldHealths(tx, repositoryId, [...new Set([...after.values()].map(({ testId }) => testId))]);
  await changeFlakyExecutions(
    tx,
    repositoryId,
    [...after.values()].flatMap(({ flaky }) => flaky),
  );
  const begun = await replaceChanges(tx, repositoryId, after, { seen, ...options });
  return {
    begun,
    unhealthy: new Set([...after.values()].flatMap(({ testId, mayBeUnhealthy }) => (mayBeUnhealthy ? [testId] : []))),
  };
}

/** A suspect as it is to be stored, with what changed. */
interface Settled extends Identity {
  /** Where its fold began. */
  before: Suspect['before'];
  suspect: Suspect;
  changes: readonly IdentifiedChange[];
  flaky: readonly IdentifiedFlakyChange[];
  mayBeUnhealthy: boolean;
}

const isUnchanged = (before: Suspect, after: Suspect): boolean =>
  writeBelief(before.after) === writeBelief(after.after) && before.flaky.symmetricDifference(after.flaky).size === 0;

function settled(
  { suspect, course, ...judged }: JudgedSuspect,
  after: Suspect,
  { isFlakyDetectionEnabled }: WriteOptions,
): Settled {
  const identity = identityOf(judged);
  const flaky = isFlakyDetectionEnabled ? course.flaky : NONE;
  return {
    ...identity,
    before: suspect.before,
    suspect: isFlakyDetectionEnabled ? after : { ...after, flaky: NONE },
    changes: shownChanges(course.changes, isFlakyDetectionEnabled).map((change) => ({ ...identity, ...change })),
    flaky: flakyChanges(suspect, flaky).map((change) => ({ testId: identity.testId, ...change })),
    mayBeUnhealthy: suspect.after.belief.status !== 'healthy' || after.after.belief.status !== 'healthy',
  };
}

const NONE: ReadonlySet<string> = new Set();

/** @param hasRun whether it has run on the default branch: if not, nothing is shown of it */
export function recordOf(
  { suspect, ...identity }: Identity & { suspect: Suspect },
  hasRun: boolean,
  { isFlakyDetectionEnabled }: Pick<WriteOptions, 'isFlakyDetectionEnabled'>,
): SuspectRecord {
  const health = hasRun ? shownHealth(suspect.after.belief.status, isFlakyDetectionEnabled) : 'healthy';
  const { confidence } = healthConfidence(health, suspect.after);
  return { ...identityOf(identity), suspect, health, confidence, ownFailureAt: ownFailureOf(suspect.after.belief) };
}

/**
 * Changes since the place from which each suspect was folded are those that were found now.
 *
 * @param seen by `identityKey`: identities that have run on the default branch. Of others, nothing is shown yet
 * @param until changes from then on are left as they are
 * @returns tests with a new beginning
 */
async function replaceChanges(
  tx: Executor,
  repositoryId: string,
  settledOnes: ReadonlyMap<string, Settled>,
  { seen, until = END_OF_TIME }: { seen: ReadonlySet<string>; until?: number },
): Promise<ReadonlySet<string>> {
  const starts = [...settledOnes.values()].map(({ before, ...one }) => ({ ...identityOf(one), start: before.at }));
  const known = (await readChangesAfter(tx, repositoryId, starts)).filter(({ at }) => at.finishedAt < until);
  const found = recordsOf(
    [...settledOnes].flatMap(([key, { changes }]) => (seen.has(key) ? changes : [])),
    known,
  );
  const [before, after] = [byText(known), byText(found)];
  const added = [...after].flatMap(([text, change]) => (before.has(text) ? [] : [change]));
  await forgetHealthChanges(
    tx,
    repositoryId,
    [...before].flatMap(([text, change]) => (after.has(text) ? [] : [change])),
  );
  await writeHealthChanges(tx, repositoryId, added);
  return new Set(added.flatMap(({ testId, beginning }) => (beginning ? [testId] : [])));
}

const byText = (changes: readonly HealthChangeRecord[]): ReadonlyMap<string, HealthChangeRecord> =>
  new Map(
    changes.map((change) => [
      JSON.stringify([
        ...[identityKey(change), change.at.finishedAt, String(change.at.executionId), change.before, change.after],
        ...(change.beginning ? [change.beginning.executionId] : []),
      ]),
      change,
    ]),
  );
