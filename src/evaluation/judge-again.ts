/**
 * Judges a repository again since a moment, with as much history as it takes: whatever a pass could not know. Every suspect that
 * went wrong since then starts before it: from what it carries if that reaches back so far, otherwise from its baseline and its
 * stored executions. To do it twice changes nothing.
 */
import type { ClickHouse } from '../clickhouse/client.ts';
import { unknownBelief } from '../domain/belief.ts';
import { undecided } from '../domain/belief-course.ts';
import { isTrouble } from '../domain/execution.ts';
import { followCourse, type KnownRuns } from '../domain/judge-runs.ts';
import { newSuspect, openExecutions, reachesBackTo, type Suspect } from '../domain/suspect.ts';
import { type Identity, identityIn, identityKey, identityOf, jobKey, testIdIn } from '../domain/test-identity.ts';
import { END_OF_TIME } from '../domain/time.ts';
import { linesOf } from '../ledger/parts.ts';
import { readBaselines } from '../postgres/baselines.ts';
import type { Executor } from '../postgres/client.ts';
import {
  type IdentifiedContradiction,
  readContradictions,
  readContradictionsBetween,
} from '../postgres/contradictions.ts';
import { readFlakyExecutions } from '../postgres/flaky-executions.ts';
import { findStoredRuns, nameOfRun, type PullRun, readRunsOn } from '../postgres/judged-runs.ts';
import { readPartsOf } from '../postgres/partitions.ts';
import { readSuspects } from '../postgres/suspects.ts';
import { Contents } from './contents.ts';
import { type IdentifiedExecution, readExecutions } from './executions.ts';
import { Judging } from './judging.ts';
import { runPlaceOf } from './run-under-judgement.ts';
import { type Written, writeJudgements } from './write-judgements.ts';

export interface JudgeAgain {
  /** Milliseconds since the epoch. */
  since: number;
  /** Tests of which what is stored of their suspects is not whole. */
  testIds: ReadonlySet<string>;
  /** By `identityKey`: others that are concerned. */
  identities: ReadonlySet<string>;
  /** By name: runs off the default branch that changed. */
  pullRuns: ReadonlyMap<string, PullRun>;
}

export interface JudgeAgainStores {
  tx: Executor;
  clickhouse: ClickHouse;
  repositoryId: string;
}

/** Identities whose histories are read at once. */
const IDENTITIES_AT_ONCE = 500;

/** Under the lock of the partition. */
export async function judgeAgain(
  stores: JudgeAgainStores,
  { since, testIds, identities, pullRuns }: JudgeAgain,
  isFlakyDetectionEnabled: boolean,
): Promise<Written> {
  const { tx, repositoryId } = stores;
  const judging = await Judging.of(tx, repositoryId, { from: since, to: END_OF_TIME });
  for (const run of judging.runs) {
    const changed = pullRuns.get(run.name);
    if (!changed) continue;
    const troubled = new Set([...changed.troubled].map((testId) => run.keyOf(testId)));
    for (const key of run.members.keys()) if (!troubled.has(key)) run.members.delete(key);
    for (const key of troubled) if (!run.members.has(key)) run.members.set(key, undefined);
  }
  const contradicted = await readContradictionsBetween(tx, repositoryId, { from: since, to: END_OF_TIME });
  const concerned = new Set([...identities, ...contradicted.map(identityKey)]);
  for (const { members } of judging.runs) for (const key of members.keys()) concerned.add(key);
  const stored = new Map<string, Suspect>();
  for (const one of await readSuspects(tx, repositoryId, [...new Set([...[...concerned].map(testIdIn), ...testIds])]))
    if (concerned.has(identityKey(one)) || testIds.has(one.testId)) stored.set(identityKey(one), one.suspect);
  // A test that only passed may be contradicted. Of others that are no suspects, nothing went wrong on the default branch.
  const named = new Set([...stored.keys(), ...identities, ...contradicted.map(identityKey)]);
  const rebuilt = new Set<string>();
  for (const key of named) {
    const suspect = stored.get(key);
    if (suspect && reachesBackTo(suspect, since) && !testIds.has(testIdIn(key))) judging.add(identityIn(key), suspect);
    else rebuilt.add(key);
  }
  const keys = [...rebuilt];
  for (let from = 0; from < keys.length; from += IDENTITIES_AT_ONCE) {
    const some = keys.slice(from, from + IDENTITIES_AT_ONCE).map(identityIn);
    for (const { suspect, ...identity } of await suspectsBefore(stores, some, since)) judging.add(identity, suspect);
  }
  const result = await judging.settle();
  return writeJudgements(tx, repositoryId, result, { isFlakyDetectionEnabled, renewed: rebuilt });
}

/** Suspects as they are if `recent` begins at a moment, from their baselines and stored executions. */
async function suspectsBefore(
  { tx, clickhouse, repositoryId }: JudgeAgainStores,
  identities: readonly Identity[],
  since: number,
): Promise<(Identity & { suspect: Suspect })[]> {
  const testIds = [...new Set(identities.map(({ testId }) => testId))];
  const executions = await readEvaluated({ tx, clickhouse, repositoryId }, identities);
  const histories = Map.groupBy(executions, identityKey);
  const baselines = new Map(
    (await readBaselines(tx, repositoryId, testIds)).map((row) => [identityKey(row), row.belief]),
  );
  const contradictions = Map.groupBy(await readContradictions(tx, repositoryId, testIds), identityKey);
  const flaky = Map.groupBy(await readFlakyExecutions(tx, repositoryId, testIds), ({ testId }) => testId);
  const runs = await readMeaningsOf({ tx, repositoryId }, executions, [...contradictions.values()].flat());
  return identities.map((identity) => {
    const key = identityKey(identity);
    const history = histories.get(key) ?? [];
    const course = followCourse(
      {
        ...(baselines.get(key) ?? unknownBelief()),
        place: jobKey(identity),
        executions: history.filter(({ finishedAt }) => finishedAt < since),
        contradictions: (contradictions.get(key) ?? []).filter(({ at }) => at.finishedAt < since),
      },
      runs,
    );
    const before = { at: course.at, belief: course.belief };
    const start = newSuspect(
      before,
      history.filter(({ finishedAt }) => finishedAt >= since),
    );
    const counted = new Set((flaky.get(identity.testId) ?? []).map(({ executionId }) => executionId));
    const undecidedIds = new Set(undecided(before.belief).map(({ executionId }) => executionId));
    const suspect = {
      ...start,
      flaky: new Set([...openExecutions(start).keys()].filter((id) => counted.has(id))),
      flakyForGood: undecidedIds.intersection(course.flakyForGood),
    };
    return { ...identityOf(identity), suspect };
  });
}

/**
 * The stored executions of some identities, but for those that wait to be evaluated: a pass will add them. Their parts are
 * read after ClickHouse: no part can have been evaluated in between, because the partition is locked.
 */
async function readEvaluated(
  { tx, clickhouse, repositoryId }: JudgeAgainStores,
  identities: readonly Identity[],
): Promise<IdentifiedExecution[]> {
  const stored = await readExecutions(clickhouse, repositoryId, identities, { from: 0, to: END_OF_TIME });
  const waiting = new Contents();
  for (const { body } of await readPartsOf(tx, repositoryId)) waiting.add(await linesOf(body));
  const ids = new Set(waiting.executionIds);
  return ids.size === 0 ? stored : stored.filter(({ executionId }) => !ids.has(String(executionId)));
}

/** What the runs mean in which some executions went wrong, and those that contradictions name. */
async function readMeaningsOf(
  { tx, repositoryId }: Pick<JudgeAgainStores, 'tx' | 'repositoryId'>,
  executions: readonly IdentifiedExecution[],
  contradictions: readonly IdentifiedContradiction[],
): Promise<KnownRuns> {
  const places = new Map(executions.filter(isTrouble).map((one) => [nameOfRun(runPlaceOf(one)), runPlaceOf(one)]));
  const commits = new Set(contradictions.map(({ failure }) => failure.commit));
  const runs = [
    ...(await findStoredRuns(tx, repositoryId, [...places.values()])),
    ...(await readRunsOn(tx, repositoryId, [...commits])),
  ];
  return new Map(runs.map((run) => [nameOfRun(run), run]));
}
