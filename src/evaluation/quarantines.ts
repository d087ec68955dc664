/**
 * Applies what is believed of tests to quarantines: quarantines a test on enough evidence, and marks a quarantined test
 * that has recovered. Runs under the lock of the partition; repeating or racing it gives the same result.
 */

import type { Belief } from '../domain/belief.ts';
import { HEALTH_RECENT_DAYS } from '../domain/judgement-constants.ts';
import { automaticScope, isNarrowedAsMade, scopeSentence, WHOLE_SCOPE } from '../domain/proposed-scope.ts';
import { isRecovered, type QuarantineSearch, quarantineCause } from '../domain/quarantine-rules.ts';
import { appliesInPlace, isNarrowed } from '../domain/quarantine-scope.ts';
import type { Identity } from '../domain/test-identity.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';

/** An identity as the quarantines see it. */
export interface IdentityState extends Identity {
  testName: string;
  /** When its newest execution that passed or failed finished; milliseconds since the epoch. */
  newestAt: number;
  belief: Belief;
}

/** Recorded as the actor of the quarantine and the trigger of its event. */
const AUTO_QUARANTINE_ACTOR = 'auto-quarantine';

export interface QuarantineContext {
  repositoryId: string;
  search: QuarantineSearch;
  quarantines: QuarantineStore;
  /**
   * Where a test fails, in the month up to a moment. Asked only of a test that is about to be quarantined and that ran in
   * several legs.
   */
  explain: (testId: string, at: number) => Promise<Explained>;
}

type Explained = Parameters<typeof automaticScope>[0];

/** Tests whose explanation is read in one step: it holds the lock of the partition. */
const EXPLAINED_AT_ONCE = 20;

/**
 * Judges the tests of these identities, which must include every identity of each test.
 *
 * @returns whether all were judged; call it again if not
 */
export async function judgeQuarantines(
  context: QuarantineContext,
  identities: readonly IdentityState[],
): Promise<boolean> {
  const tests = recentIdentities(identities);
  const open = await context.quarantines.ofTests(context.repositoryId, [...tests.keys()]);
  await markRecovered(context, tests, open);
  return quarantineTests(context, tests, open);
}

/** By test: the identities that ran lately, which are those that the health of the test covers. */
export function recentIdentities<I extends Pick<IdentityState, 'testId' | 'newestAt'>>(
  identities: readonly I[],
): Map<string, I[]> {
  const byTest = Map.groupBy(identities, (identity) => identity.testId);
  for (const [testId, all] of byTest) {
    const newest = all.reduce((at, one) => Math.max(at, one.newestAt), 0);
    byTest.set(
      testId,
      all.filter((one) => one.newestAt > newest - HEALTH_RECENT_DAYS * DAY_MS),
    );
  }
  return byTest;
}

/** The identities of its test in the pipelines and CI jobs that a quarantine is for: those that decide on its recovery. */
export const coveredBy = <I extends IdentityState>(
  quarantine: Quarantine,
  recent: ReadonlyMap<string, readonly I[]>,
): I[] => (recent.get(quarantine.testId) ?? []).filter((identity) => appliesInPlace(quarantine, identity));

/** Whether a quarantined test has recovered, by the identities that {@link recentIdentities} gives. */
export const hasRecovered = (quarantine: Quarantine, recent: ReadonlyMap<string, readonly IdentityState[]>): boolean =>
  isRecovered(coveredBy(quarantine, recent), quarantine.createdAt.getTime());

async function markRecovered(
  { repositoryId, quarantines }: QuarantineContext,
  tests: ReadonlyMap<string, IdentityState[]>,
  open: readonly Quarantine[],
): Promise<void> {
  const changes = open.flatMap((quarantine) => {
    const now = hasRecovered(quarantine, tests);
    return now === quarantine.isRecovered ? [] : [{ id: quarantine.id, isRecovered: now }];
  });
  await quarantines.setRecovered(repositoryId, changes);
}

async function quarantineTests(
  { repositoryId, search, quarantines, explain }: QuarantineContext,
  tests: ReadonlyMap<string, IdentityState[]>,
  open: readonly Quarantine[],
): Promise<boolean> {
  if (search === 'off') return true;
  // If a person has narrowed a quarantine, other failures of the test still count.
  const decided = new Set(
    open.flatMap((one) =>
      isNarrowed(one) ? (isNarrowedAsMade(one) ? [] : [one.testId]) : one.branch === null ? [one.testId] : [],
    ),
  );
  const suspects = [...tests].flatMap(([testId, all]) => {
    if (decided.has(testId)) return [];
    // A test that fails outside of what it was narrowed to automatically is quarantined there too.
    const own = open.filter((one) => one.testId === testId && one.branch === null);
    const identities = all.filter((one) => !own.some((quarantine) => appliesInPlace(quarantine, one)));
    return quarantineCause(search, identities, 0) === undefined ? [] : [{ testId, identities, legs: all.length }];
  });
  const releases = await quarantines.releasesOf(
    repositoryId,
    suspects.map(({ testId }) => testId),
  );
  let explained = 0;
  for (const { testId, identities, legs } of suspects) {
    const releasedAt = releases.get(testId)?.getTime() ?? 0;
    const cause = quarantineCause(search, identities, releasedAt);
    const [first] = identities;
    if (!cause || !first) continue;
    const newestAt = Math.max(...identities.map((one) => one.newestAt));
    const ill = identities.filter((one) => quarantineCause(search, [one], releasedAt) !== undefined);
    if (legs > 1 && explained++ >= EXPLAINED_AT_ONCE) return false;
    const scope = legs > 1 ? automaticScope(await explain(testId, newestAt), ill) : WHOLE_SCOPE;
    const reason = `${cause.reason}${scopeSentence(scope)}`;
    const wanted = { testName: first.testName, reason, branch: null, ...scope };
    const outcome = await quarantines.createAutomatically(repositoryId, wanted, AUTO_QUARANTINE_ACTOR);
    if (outcome === 'limited') return true;
  }
  return true;
}
