/**
 * Judges a repository again since a moment, with as much history as it takes: whatever a pass could not know. Every suspect that
 * went wrong since then starts before it: from what it carries if that reaches back so far, otherwise from its baseline and its
 * stored executions. To do it twice changes nothing.
 *
 *     since ──► window, from before it ──► window, from what the one before has written ──► … ──► now
 *
 * Nearly always, there is one window. What is in memory at once is bounded.
 */
import type { ClickHouse } from '../clickhouse/client.ts';
import { unknownBelief } from '../domain/belief.ts';
import { isTrouble } from '../domain/execution.ts';
import { followCourse, type KnownRuns } from '../domain/judge-runs.ts';
import { newSuspect, openExecutions, reachesBackTo, type Suspect, withExecutions } from '../domain/suspect.ts';
import { type Identity, identityIn, identityKey, identityOf, legKey, testIdIn } from '../domain/test-identity.ts';
import { END_OF_TIME } from '../domain/time.ts';
import { linesOf } from '../ledger/parts.ts';
import { piecesOf } from '../pieces.ts';
import { readBaselines } from '../postgres/baselines.ts';
import type { Executor } from '../postgres/client.ts';
import { type IdentifiedClue, readClues, readCluesBetween } from '../postgres/clues.ts';
import { readFlakyExecutions } from '../postgres/flaky-executions.ts';
import { countExecutions } from '../postgres/identities.ts';
import { findRuns, nameOfRun, type PullRun, readRuns, readRunsOn } from '../postgres/judged-runs.ts';
import { readPartsOf } from '../postgres/partitions.ts';
import { readSuspects } from '../postgres/suspects.ts';
import { Contents } from './contents.ts';
import { type IdentifiedExecution, readExecutions, type Span } from './executions.ts';
import { windowsOfTests } from './judge-all-runs.ts';
import { Judging } from './judging.ts';
import { RunUnderJudgement, runPlaceOf } from './run-under-judgement.ts';
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

export interface JudgeAgainOptions {
  isFlakyDetectionEnabled: boolean;
  /** Tests want few. */
  executionsAtOnce?: number | undefined;
}

/** In memory, unless one hour or one identity has more. */
const EXECUTIONS_AT_ONCE = 500_000;
/** Identities whose histories are read at once. */
const IDENTITIES_AT_ONCE = 500;

/** Under the lock of the partition. */
export async function judgeAgain(
  stores: JudgeAgainStores,
  again: JudgeAgain,
  { isFlakyDetectionEnabled, executionsAtOnce = EXECUTIONS_AT_ONCE }: JudgeAgainOptions,
): Promise<Written> {
  const { tx, clickhouse, repositoryId } = stores;
  const concerned = await concernedBy(stores, again);
  const testIds = [...new Set([...[...concerned.keys()].map(testIdIn), ...again.testIds])];
  const counts = await countExecutions(tx, repositoryId, testIds);
  const isLittle = counts.values().reduce((sum, count) => sum + count, 0) <= executionsAtOnce;
  const windows = isLittle
    ? [{ from: again.since, to: END_OF_TIME }]
    : await windowsOfTests(clickhouse, repositoryId, { since: again.since, testIds, executionsAtOnce });
  const named = await namedBy(stores, again, { concerned, testIds, isKept: windows.length === 1 });
  const [begun, unhealthy] = [new Set<string>(), new Set<string>()];
  for (const [i, span] of windows.entries()) {
    const judging = await Judging.of(tx, repositoryId, span);
    for (const run of judging.runs) takeChange(run, again);
    const renewed =
      i === 0
        ? await beginIn(stores, judging, span, { named, counts, executionsAtOnce })
        : await continueIn(stores, judging, span, named);
    const result = await judging.settle();
    const options = { isFlakyDetectionEnabled, renewed, until: span.to };
    const written = await writeJudgements(tx, repositoryId, result, options);
    for (const testId of written.begun) begun.add(testId);
    for (const testId of written.unhealthy) unhealthy.add(testId);
  }
  return { begun, unhealthy };
}

/** By `identityKey`: whether it was contradicted since then, or is given. The others went wrong. */
async function concernedBy(
  { tx, repositoryId }: JudgeAgainStores,
  again: JudgeAgain,
): Promise<ReadonlyMap<string, boolean>> {
  const concerned = new Map<string, boolean>();
  for (const stored of await readRuns(tx, repositoryId, again.since)) {
    const run = new RunUnderJudgement(stored);
    takeChange(run, again);
    for (const key of run.members.keys()) concerned.set(key, false);
  }
  const contradicted = await readCluesBetween(tx, repositoryId, { from: again.since, to: END_OF_TIME });
  for (const key of [...again.identities, ...contradicted.map(identityKey)]) concerned.set(key, true);
  return concerned;
}

function takeChange(run: RunUnderJudgement, { pullRuns }: JudgeAgain): void {
  const changed = pullRuns.get(run.name);
  if (!changed) return;
  const troubled = new Set([...changed.troubled].map((testId) => run.keyOf(testId)));
  for (const key of run.members.keys()) if (!troubled.has(key)) run.members.delete(key);
  for (const key of troubled) if (!run.members.has(key)) run.members.set(key, undefined);
}

/** By `identityKey`, those to judge: undefined if what is stored of one is not to be used. */
type Named = ReadonlyMap<string, Suspect | undefined>;

/** A test that only passed may be contradicted. Of others that are no suspects, nothing went wrong on the default branch. */
async function namedBy(
  { tx, repositoryId }: JudgeAgainStores,
  { since, testIds: notWhole }: JudgeAgain,
  of: { concerned: ReadonlyMap<string, boolean>; testIds: readonly string[]; isKept: boolean },
): Promise<Named> {
  const named = new Map<string, Suspect | undefined>();
  for (const [key, isNamed] of of.concerned) if (isNamed) named.set(key, undefined);
  for (const testIds of piecesOf(of.testIds, IDENTITIES_AT_ONCE))
    for (const one of await readSuspects(tx, repositoryId, testIds)) {
      const key = identityKey(one);
      if (!of.concerned.has(key) && !notWhole.has(one.testId)) continue;
      const isUsed = of.isKept && reachesBackTo(one.suspect, since) && !notWhole.has(one.testId);
      named.set(key, isUsed ? one.suspect : undefined);
    }
  return named;
}

/** Gives everything that is named, with its executions of the first window. Returns those that are rebuilt. */
async function beginIn(
  stores: JudgeAgainStores,
  judging: Judging,
  span: Span,
  { named, counts, executionsAtOnce }: { named: Named; counts: ReadonlyMap<string, number>; executionsAtOnce: number },
): Promise<Set<string>> {
  const rebuilt = new Set<string>();
  let [some, taken]: [Identity[], number] = [[], 0];
  const give = async (): Promise<void> => {
    for (const { suspect, ...identity } of await suspectsBefore(stores, some, span)) judging.add(identity, suspect);
    [some, taken] = [[], 0];
  };
  for (const [key, suspect] of named) {
    if (suspect) {
      judging.add(identityIn(key), suspect);
      continue;
    }
    rebuilt.add(key);
    const count = counts.get(key) ?? 0;
    if (some.length === IDENTITIES_AT_ONCE || taken + count > executionsAtOnce) await give();
    some.push(identityIn(key));
    taken += count;
  }
  await give();
  return rebuilt;
}

/**
 * Gives what ran or is looked at in a further window, as a pass would: the windows before have written it. Returns what was
 * given.
 */
async function continueIn(stores: JudgeAgainStores, judging: Judging, span: Span, named: Named): Promise<Set<string>> {
  const { tx, repositoryId } = stores;
  const executions = Map.groupBy(await readEvaluated(stores, [...named.keys()].map(identityIn), span), identityKey);
  const keys = new Set([
    ...executions.keys(),
    ...(await readCluesBetween(tx, repositoryId, span)).map(identityKey),
    ...[...judging.runs].flatMap(({ members }) => [...members.keys()].filter((key) => named.has(key))),
  ]);
  const testIds = [...new Set([...keys].map(testIdIn))];
  const flaky = await flakyIdsOf(tx, repositoryId, testIds);
  for (const one of await readSuspects(tx, repositoryId, testIds)) {
    const key = identityKey(one);
    if (!keys.has(key)) continue;
    const { suspect } = withExecutions(one.suspect, executions.get(key) ?? []);
    judging.add(one, { ...suspect, flaky: openExecutionsOf(suspect, flaky) });
  }
  return keys;
}

const flakyIdsOf = async (tx: Executor, repositoryId: string, testIds: readonly string[]) =>
  new Set((await readFlakyExecutions(tx, repositoryId, testIds)).map(({ executionId }) => executionId));

const openExecutionsOf = (suspect: Suspect, flaky: ReadonlySet<string>): Set<string> =>
  new Set(openExecutions(suspect).keys()).intersection(flaky);

/** Suspects as they are if `recent` has the executions of a span, from their baselines and stored executions. */
async function suspectsBefore(
  { tx, clickhouse, repositoryId }: JudgeAgainStores,
  identities: readonly Identity[],
  span: Span,
): Promise<(Identity & { suspect: Suspect })[]> {
  const testIds = [...new Set(identities.map(({ testId }) => testId))];
  const executions = await readEvaluated({ tx, clickhouse, repositoryId }, identities, { from: 0, to: span.to });
  const histories = Map.groupBy(executions, identityKey);
  const baselines = new Map(
    (await readBaselines(tx, repositoryId, testIds)).map((row) => [identityKey(row), row.belief]),
  );
  const clues = Map.groupBy(await readClues(tx, repositoryId, testIds), identityKey);
  const flaky = await flakyIdsOf(tx, repositoryId, testIds);
  const runs = await readMeaningsOf({ tx, repositoryId }, executions, [...clues.values()].flat());
  return identities.map((identity) => {
    const key = identityKey(identity);
    const history = histories.get(key) ?? [];
    const course = followCourse(
      {
        ...(baselines.get(key) ?? unknownBelief()),
        place: legKey(identity),
        executions: history.filter(({ finishedAt }) => finishedAt < span.from),
        clues: (clues.get(key) ?? []).filter(({ at }) => at.finishedAt < span.from),
      },
      runs,
    );
    const suspect = newSuspect(
      course.kept,
      history.filter(({ finishedAt }) => finishedAt >= span.from),
    );
    return { ...identityOf(identity), suspect: { ...suspect, flaky: openExecutionsOf(suspect, flaky) } };
  });
}

/**
 * The stored executions of some identities, but for those that wait to be evaluated: a pass will add them. Their parts are
 * read after ClickHouse: no part can have been evaluated in between, because the partition is locked.
 */
async function readEvaluated(
  { tx, clickhouse, repositoryId }: JudgeAgainStores,
  identities: readonly Identity[],
  span: Span,
): Promise<IdentifiedExecution[]> {
  const stored = await readExecutions(clickhouse, repositoryId, identities, span);
  const waiting = new Contents();
  for (const { body } of await readPartsOf(tx, repositoryId)) waiting.add(await linesOf(body));
  const ids = new Set(waiting.executionIds);
  return ids.size === 0 ? stored : stored.filter(({ executionId }) => !ids.has(String(executionId)));
}

/** The meaning of runs in which some executions went wrong, and of those that clues name. */
async function readMeaningsOf(
  { tx, repositoryId }: Pick<JudgeAgainStores, 'tx' | 'repositoryId'>,
  executions: readonly IdentifiedExecution[],
  clues: readonly IdentifiedClue[],
): Promise<KnownRuns> {
  const places = new Map(executions.filter(isTrouble).map((one) => [nameOfRun(runPlaceOf(one)), runPlaceOf(one)]));
  const commits = new Set(clues.map(({ failure }) => failure.commit));
  const runs = [
    ...(await findRuns(tx, repositoryId, [...places.values()])),
    ...(await readRunsOn(tx, repositoryId, [...commits])),
  ];
  return new Map(runs.map((run) => [nameOfRun(run), run]));
}
