/**
 * Moves baselines past a month before it leaves, so that nothing needs its executions: what is believed outlives retention.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { scope, scopeOf } from '../clickhouse/scope.ts';
import { unknownBelief } from '../domain/belief.ts';
import type { CourseStart } from '../domain/belief-course.ts';
import { comparePositions } from '../domain/execution.ts';
import { withoutGroupMonth } from '../domain/failure-group.ts';
import { followCourse, type KnownRuns } from '../domain/judge-runs.ts';
import { endOfMonth, monthOf } from '../domain/retention.ts';
import { POOLED_MS, USUAL_MS } from '../domain/run-trouble.ts';
import { JUDGING_KINDS } from '../domain/stale.ts';
import { newSuspect, openExecutions, type Suspect } from '../domain/suspect.ts';
import { type Identity, identityKey, identityOf, legKey } from '../domain/test-identity.ts';
import { HOUR_MS } from '../domain/time.ts';
import { piecesOf } from '../pieces.ts';
import { readBaselines, writeBaselines } from '../postgres/baselines.ts';
import type { Executor } from '../postgres/client.ts';
import { forgetClues, type IdentifiedClue, readCluesBetween, repositoriesWithClues } from '../postgres/clues.ts';
import { replaceIdentities } from '../postgres/count-identities.ts';
import { forgetFailureGroups, readFailureGroups, writeFailureGroups } from '../postgres/failure-groups.ts';
import { forgetFlakyExecutions } from '../postgres/flaky-executions.ts';
import { readIdentities, type StoredIdentity, withoutMonth } from '../postgres/identities.ts';
import { foldHealths } from '../postgres/job-legs.ts';
import { forgetRuns, readMeanings } from '../postgres/judged-runs.ts';
import { noteOwnersStale } from '../postgres/owners.ts';
import { lockPartitionsOf } from '../postgres/partitions.ts';
import { noteStale, readStale } from '../postgres/stale.ts';
import { readSuspects, writeSuspects } from '../postgres/suspects.ts';
import { readTests } from '../postgres/tests.ts';
import { readExecutions, type Span } from './executions.ts';
import { recordOf } from './write-judgements.ts';

const TESTS_AT_ONCE = 500;

const testsOfMonth = defineLongQuery(
  'maintenance/tests_of_month',
  { ...scope, month: 'UInt32' },
  z.object({ repository_id: z.string(), test_id: z.string() }),
);

/** Thrown if judgements of a repository became stale after they were refreshed: the next try will do. */
class StaleJudgements extends Error {
  override name = 'StaleJudgements';
}

export interface MovedRepositories {
  /** Whether flaky tests are looked for in a repository. */
  isEnabled(repositoryId: string): boolean;
  /** Undefined: every repository. */
  repositoryId?: string;
}

/**
 * Folds the month beginning at `monthStart` into the baselines of all identities that ran in it, and takes the month out
 * of their counts. Its runs leave, but for those that say what is usual in the month after it.
 */
export async function moveBaselines(
  clickhouse: ClickHouse,
  tx: Executor,
  monthStart: number,
  { isEnabled, repositoryId: only }: MovedRepositories,
): Promise<void> {
  const tests = await clickhouse.select(testsOfMonth, { ...scopeOf(only), month: monthOf(monthStart) });
  const ran = Map.groupBy(tests, (test) => test.repository_id);
  const span = { from: monthStart, to: endOfMonth(monthStart) };
  const repositoryIds = new Set(only === undefined ? [...ran.keys(), ...(await repositoriesWithClues(tx))] : [only]);
  await lockPartitionsOf(tx, ...repositoryIds);
  const stale = await readStale(tx, [...repositoryIds]);
  for (const repositoryId of repositoryIds) {
    if (JUDGING_KINDS.some((kind) => stale.get(repositoryId)?.has(kind))) throw new StaleJudgements(repositoryId);
    const clues = await readCluesBetween(tx, repositoryId, span);
    const group = new Set((ran.get(repositoryId) ?? []).map((test) => test.test_id));
    for (const { testId } of clues) group.add(testId);
    const leaving = {
      ...{ tx, clickhouse, repositoryId, span },
      runs: await readMeanings(tx, repositoryId),
      clues: Map.groupBy(clues, identityKey),
      isFlakyDetectionEnabled: isEnabled(repositoryId),
    };
    for (const tests of piecesOf([...group], TESTS_AT_ONCE)) await forgetMonth(leaving, tests);
    await forgetFlakyExecutions(tx, repositoryId, span.to);
    const to = span.to - POOLED_MS - USUAL_MS - HOUR_MS;
    await forgetRuns(tx, repositoryId, { from: 0, to });
    await forgetClues(tx, repositoryId, { from: 0, to: span.to });
    await noteStale(tx, [{ repositoryId, kind: 'totals', blockId: Number.MAX_SAFE_INTEGER }]);
    await noteOwnersStale(tx, repositoryId);
  }
}

/** A month of a repository that leaves. */
interface LeavingMonth {
  tx: Executor;
  clickhouse: ClickHouse;
  repositoryId: string;
  span: Span;
  runs: KnownRuns;
  /** Complete in the month, by `identityKey`. */
  clues: ReadonlyMap<string, readonly IdentifiedClue[]>;
  isFlakyDetectionEnabled: boolean;
}

async function forgetMonth(leaving: LeavingMonth, testIds: readonly string[]): Promise<void> {
  const { tx, repositoryId, span } = leaving;
  const month = monthOf(span.from);
  const stored = new Map((await readIdentities(tx, repositoryId, testIds)).map((one) => [identityKey(one), one]));
  const ends = await endsOfMonth(leaving, testIds, stored);
  await writeBaselines(
    tx,
    repositoryId,
    [...ends].map(([key, { end, ...identity }]) => ({
      ...identityOf(identity),
      belief: { at: end.at, belief: end.belief },
      hasRun: stored.has(key),
    })),
  );
  const names = new Map((await readTests(tx, repositoryId, testIds)).map(({ testId, name }) => [testId, name]));
  const kept = new Map([...stored].map(([key, one]) => [key, withoutMonth(one, names.get(one.testId) ?? '', month)]));
  await replaceIdentities(tx, repositoryId, testIds, [...kept.values()]);
  const seen = new Set((await readIdentities(tx, repositoryId, testIds)).map(identityKey));
  const suspects = (await readSuspects(tx, repositoryId, testIds)).map(({ suspect, ...identity }) => {
    const key = identityKey(identity);
    const end = ends.get(key);
    return recordOf({ ...identity, suspect: end ? movedTo(end.end, suspect) : suspect }, seen.has(key), leaving);
  });
  await writeSuspects(tx, repositoryId, suspects);
  await foldHealths(tx, repositoryId, testIds);
  const groups = (await readFailureGroups(tx, repositoryId, testIds)).flatMap((group) => {
    const left = withoutGroupMonth(group, month);
    return left ? [{ ...group, ...left }] : [];
  });
  await forgetFailureGroups(tx, repositoryId, testIds);
  await writeFailureGroups(tx, repositoryId, groups);
}

/** The belief about an identity at the end of the month. */
interface EndOfMonth extends Identity {
  end: CourseStart;
}

async function endsOfMonth(
  { tx, clickhouse, repositoryId, span, runs, clues }: LeavingMonth,
  testIds: readonly string[],
  stored: ReadonlyMap<string, StoredIdentity>,
): Promise<Map<string, EndOfMonth>> {
  const asked = new Set(testIds);
  const executions = await readExecutions(clickhouse, repositoryId, [...stored.values()], span);
  const byIdentity = Map.groupBy(executions, identityKey);
  const baselines = new Map((await readBaselines(tx, repositoryId, testIds)).map((row) => [identityKey(row), row]));
  const identities = new Map<string, Identity>();
  for (const [key, [one]] of [...clues, ...byIdentity])
    if (one && asked.has(one.testId)) identities.set(key, identityOf(one));
  return new Map(
    [...identities].map(([key, identity]) => {
      const course = followCourse(
        {
          ...(baselines.get(key)?.belief ?? unknownBelief()),
          place: legKey(identity),
          executions: byIdentity.get(key) ?? [],
          clues: clues.get(key) ?? [],
        },
        runs,
      );
      return [key, { ...identity, end: course.kept }];
    }),
  );
}

/** Nothing may start from before the baseline: the executions of that time have left. */
function movedTo(end: CourseStart, suspect: Suspect): Suspect {
  const { at } = end;
  if (at === null || (suspect.before.at !== null && comparePositions(suspect.before.at, at) >= 0)) return suspect;
  const moved = newSuspect(
    end,
    suspect.recent.filter((one) => comparePositions(one, at) > 0),
  );
  const open = new Set(openExecutions(moved).keys());
  return { ...moved, after: suspect.after, flaky: open.intersection(suspect.flaky) };
}
