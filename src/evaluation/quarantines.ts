/**
 * Applies what is believed of tests to quarantines: quarantines a test on enough evidence, and marks a quarantined test
 * that has recovered. Runs under the lock of the partition; repeating or racing it gives the same result.
 */

import type { Belief } from '../domain/belief.ts';
import { HEALTH_RECENT_DAYS } from '../domain/judgement-constants.ts';
import { automaticScope, type ProposedScope, scopeSentence, WHOLE_SCOPE } from '../domain/proposed-scope.ts';
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
   * Where a test fails, in the month up to a moment. Asked only of a test that ran in several legs, and that is about to be
   * quarantined, or is automatically quarantined for every leg.
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
  context: QuarantineContext,
  tests: ReadonlyMap<string, IdentityState[]>,
  open: readonly Quarantine[],
): Promise<boolean> {
  const { repositoryId, search, quarantines } = context;
  if (search === 'off') return true;
  const explainer = new Explainer(context);
  const suspects = [...uncoveredBy(open, tests)].filter(
    ([, identities]) => quarantineCause(search, identities, 0) !== undefined,
  );
  const releases = await quarantines.releasesOf(
    repositoryId,
    suspects.map(([testId]) => testId),
  );
  for (const [testId, identities] of suspects) {
    const releasedAt = releases.get(testId)?.getTime() ?? 0;
    const cause = quarantineCause(search, identities, releasedAt);
    const [first] = identities;
    if (!cause || !first) continue;
    const scope = await explainer.scopeOf(tests.get(testId) ?? identities, illOf(search, identities, releasedAt));
    if (!scope) return false;
    const reason = `${cause.reason}${scopeSentence(scope)}`;
    const wanted = { testName: first.testName, reason, branch: null, ...scope };
    const outcome = await quarantines.createAutomatically(repositoryId, wanted, AUTO_QUARANTINE_ACTOR);
    if (outcome === 'limited') return true;
  }
  await narrowQuarantines(context, tests, open, explainer);
  return true;
}

/**
 * Identities by test that no quarantine covers. What an automatic one does not cover is judged as if there were none. What
 * that of a person does not cover counts on purpose, so its test is left out.
 */
function uncoveredBy(
  open: readonly Quarantine[],
  tests: ReadonlyMap<string, IdentityState[]>,
): Map<string, IdentityState[]> {
  const byTest = Map.groupBy(open, ({ testId }) => testId);
  const uncovered = new Map<string, IdentityState[]>();
  for (const [testId, identities] of tests) {
    // One that is for the failures of a cause says nothing about others.
    const own = (byTest.get(testId) ?? []).filter(
      (one) => one.causeId === null && (one.branch === null || isNarrowed(one)),
    );
    if (own.some(({ isScopeChosen }) => isScopeChosen)) continue;
    uncovered.set(
      testId,
      identities.filter((identity) => !own.some((one) => appliesInPlace(one, identity))),
    );
  }
  return uncovered;
}

/** The identities that show enough evidence without the others. */
const illOf = (search: QuarantineSearch, identities: readonly IdentityState[], releasedAt: number): IdentityState[] =>
  identities.filter((one) => quarantineCause(search, [one], releasedAt) !== undefined);

/**
 * A quarantine that was made before the explanation was sure is narrowed once it is: the newest first, as many as there is
 * time for.
 */
async function narrowQuarantines(
  { repositoryId, search, quarantines }: QuarantineContext,
  tests: ReadonlyMap<string, IdentityState[]>,
  open: readonly Quarantine[],
  explainer: Explainer,
): Promise<void> {
  for (const { id, testId, reason, ...made } of open.toReversed()) {
    if (made.isScopeChosen || isNarrowed(made)) continue;
    const identities = tests.get(testId) ?? [];
    const scope = await explainer.scopeOf(identities, illOf(search, identities, 0));
    if (!scope) return;
    if (scope === WHOLE_SCOPE) continue;
    const narrowed = { ...scope, reason: `${reason}${scopeSentence(scope)}` };
    await quarantines.narrowAutomatically(repositoryId, id, narrowed, AUTO_QUARANTINE_ACTOR);
  }
}

/** Explains {@link EXPLAINED_AT_ONCE} tests. */
class Explainer {
  #explained = 0;

  constructor(private readonly context: Pick<QuarantineContext, 'explain'>) {}

  /** The scope of an automatic quarantine of a test for its ill legs. Undefined: it has explained enough. */
  async scopeOf(
    identities: readonly IdentityState[],
    ill: readonly IdentityState[],
  ): Promise<ProposedScope | undefined> {
    const [first] = identities;
    if (!first || identities.length < 2) return WHOLE_SCOPE;
    if (this.#explained++ >= EXPLAINED_AT_ONCE) return undefined;
    const newestAt = identities.reduce((at, one) => Math.max(at, one.newestAt), 0);
    return automaticScope(await this.context.explain(first.testId, newestAt), ill);
  }
}
