/**
 * Applies verdicts to quarantines: quarantines a test on enough evidence, and marks a quarantined test that has
 * recovered. Runs under the repository's evaluation lock; repeating or racing it gives the same result.
 */
import { FAILURE_SHARE_DAYS, HEALTH_RECENT_DAYS } from '../domain/judgement-constants.ts';
import {
  type AutoQuarantineMode,
  isRecovered,
  quarantineReason,
  type RecoveryEvidence,
} from '../domain/quarantine-rules.ts';
import { appliesInPlace, isNarrowed } from '../domain/quarantine-scope.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import type { IdentityState } from './health.ts';
import type { IdentityEvidence, QuarantineEvidenceStore } from './quarantine-evidence.ts';
import { identityKey } from './store.ts';

/** Recorded as the actor of the quarantine and the trigger of its event. */
const AUTO_QUARANTINE_ACTOR = 'auto-quarantine';

export interface QuarantineContext {
  repositoryId: string;
  mode: AutoQuarantineMode;
  quarantines: QuarantineStore;
  evidence: QuarantineEvidenceStore;
}

/** Judges the tests of these identities, which must include every identity of each test. */
export async function judgeQuarantines(
  context: QuarantineContext,
  identities: readonly IdentityState[],
): Promise<void> {
  const tests = recentIdentities(identities);
  const open = await context.quarantines.ofTests(context.repositoryId, [...tests.keys()]);
  await markRecovered(context, tests, open);
  await quarantineTests(context, tests, open);
}

/** By test: the identities that ran lately, which are those that the health of the test covers. */
export function recentIdentities<I extends IdentityState>(identities: readonly I[]): Map<string, I[]> {
  const byTest = Map.groupBy(identities, (identity) => identity.testId);
  for (const [testId, all] of byTest) {
    const newest = newestOf(all);
    byTest.set(
      testId,
      all.filter((one) => one.newestAt > newest - HEALTH_RECENT_DAYS * DAY_MS),
    );
  }
  return byTest;
}

const newestOf = (identities: readonly IdentityState[]): number =>
  identities.reduce((newest, one) => Math.max(newest, one.newestAt), 0);

async function markRecovered(
  { repositoryId, quarantines, evidence }: QuarantineContext,
  tests: ReadonlyMap<string, IdentityState[]>,
  open: readonly Quarantine[],
): Promise<void> {
  const changes: { id: string; isRecovered: boolean }[] = [];
  for (const [quarantine, recoveries] of await recoveryOf(evidence, tests, open)) {
    const now = isRecovered(recoveries.map((one) => one.evidence));
    if (now !== quarantine.isRecovered) changes.push({ id: quarantine.id, isRecovered: now });
  }
  await quarantines.setRecovered(repositoryId, changes);
}

/** The evidence of recovery for each quarantine, by identity. */
export async function recoveryOf(
  evidence: QuarantineEvidenceStore,
  tests: ReadonlyMap<string, IdentityState[]>,
  open: readonly Quarantine[],
): Promise<Map<Quarantine, { identity: IdentityState; evidence: RecoveryEvidence }[]>> {
  const found = new Map<Quarantine, { identity: IdentityState; evidence: RecoveryEvidence }[]>();
  // A test has one quarantine, or a few with branches or narrowings; each round takes one of each test. Most often one
  // round is enough.
  for (const round of roundsOf(open)) {
    const since = new Map(
      round
        .filter((quarantine) => isCounted(quarantine, coveredBy(quarantine, tests)))
        .map((quarantine) => [quarantine.testId, quarantine.createdAt.getTime()]),
    );
    const passes = await evidence.passes(since);
    for (const quarantine of round)
      found.set(
        quarantine,
        coveredBy(quarantine, tests).map((identity) => ({
          identity,
          evidence: {
            health: identity.state.health,
            cleanPasses: cleanPassesSince(quarantine, identity, passes),
            cleanPassesNeeded: identity.state.cleanPassesNeeded,
          },
        })),
      );
  }
  return found;
}

/** The identities of its test in the pipelines and CI jobs that it is for. */
const coveredBy = (quarantine: Quarantine, tests: ReadonlyMap<string, IdentityState[]>): IdentityState[] =>
  (tests.get(quarantine.testId) ?? []).filter((identity) => appliesInPlace(quarantine, identity));

function roundsOf(open: readonly Quarantine[]): Quarantine[][] {
  const rounds: Quarantine[][] = [];
  for (const group of Map.groupBy(open, (quarantine) => quarantine.testId).values())
    for (const [i, quarantine] of group.entries()) {
      rounds[i] ??= [];
      rounds[i].push(quarantine);
    }
  return rounds;
}

/** Whether its passes must be counted, because the series of clean passes began before the quarantine was made. */
const isCounted = (quarantine: Quarantine, identities: readonly IdentityState[]): boolean =>
  identities.some(({ state }) => state.cleanPasses > 0 && state.cleanSince <= quarantine.createdAt.getTime());

function cleanPassesSince(
  quarantine: Quarantine,
  identity: IdentityState,
  counted: ReadonlyMap<string, number>,
): number {
  const { cleanPasses, cleanSince } = identity.state;
  if (cleanPasses === 0 || cleanSince > quarantine.createdAt.getTime()) return cleanPasses;
  return counted.get(identityKey(identity)) ?? 0;
}

async function quarantineTests(
  { repositoryId, mode, quarantines, evidence }: QuarantineContext,
  tests: ReadonlyMap<string, IdentityState[]>,
  open: readonly Quarantine[],
): Promise<void> {
  if (mode === 'off') return;
  // Of a narrowed one, a person has decided that other failures of the test still count.
  const decided = new Set(
    open.flatMap((quarantine) => (quarantine.branch === null || isNarrowed(quarantine) ? [quarantine.testId] : [])),
  );
  const suspects = [...tests].filter(
    ([testId, identities]) =>
      !decided.has(testId) &&
      identities.some(
        ({ state: { health } }) => health === 'flaky' || (health === 'broken' && mode === 'flaky+broken'),
      ),
  );
  const testIds = suspects.map(([testId]) => testId);
  const releases = await quarantines.releasesOf(repositoryId, testIds);
  const since = new Map(
    suspects.map(([testId, identities]) => [
      testId,
      Math.max(newestOf(identities) - FAILURE_SHARE_DAYS * DAY_MS, releases.get(testId)?.getTime() ?? 0),
    ]),
  );
  for (const found of Map.groupBy(await evidence.since(since), (one) => one.testId).values()) {
    const [first] = found;
    if (!first) continue;
    const reason = quarantineReason(mode, withHealth(found, tests.get(first.testId) ?? []));
    if (reason === null) continue;
    const wanted = { testName: first.testName, reason, branch: null };
    const outcome = await quarantines.createAutomatically(repositoryId, wanted, AUTO_QUARANTINE_ACTOR);
    if (outcome === 'limited') return;
  }
}

function withHealth(found: readonly IdentityEvidence[], identities: readonly IdentityState[]) {
  const health = new Map(identities.map((identity) => [identityKey(identity), identity.state.health]));
  return found.flatMap((one) => {
    const known = health.get(identityKey(one));
    return known ? [{ ...one, health: known }] : [];
  });
}
