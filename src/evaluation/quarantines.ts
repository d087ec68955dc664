/**
 * What the verdicts do to quarantines: a test that has shown enough is quarantined, and one that has recovered is marked so. Runs under
 * the repository's evaluation lock; repeated or raced it comes to the same.
 */
import { FAILURE_SHARE_DAYS, HEALTH_RECENT_DAYS } from '../domain/judgement-constants.ts';
import {
  type AutoQuarantineMode,
  isRecovered,
  quarantineReason,
  type RecoveryEvidence,
} from '../domain/quarantine-rules.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Quarantine, QuarantineStore } from '../postgres/quarantines.ts';
import type { FigureStore, Figures } from './figures.ts';
import type { IdentityEnd } from './health.ts';
import { identityKey } from './store.ts';

/** Who has made the quarantine: the actor of the record, and the trigger of its event. */
export const AUTO_QUARANTINE_ACTOR = 'auto-quarantine';

export interface QuarantineContext {
  repositoryId: string;
  mode: AutoQuarantineMode;
  quarantines: QuarantineStore;
  figures: FigureStore;
}

/** Looks at the tests of these identities; all identities of a test are to be among them. */
export async function judgeQuarantines(context: QuarantineContext, ends: readonly IdentityEnd[]): Promise<void> {
  const tests = recentIdentities(ends);
  const open = await context.quarantines.ofTests(context.repositoryId, [...tests.keys()]);
  await markRecovered(context, tests, open);
  await quarantineTests(context, tests, open);
}

/** By test: the identities that ran lately, as the test's health looks at them. */
export function recentIdentities<I extends IdentityEnd>(ends: readonly I[]): Map<string, I[]> {
  const byTest = Map.groupBy(ends, (end) => end.testId);
  for (const [testId, identities] of byTest) {
    const newest = newestOf(identities);
    byTest.set(
      testId,
      identities.filter((one) => one.newestAt > newest - HEALTH_RECENT_DAYS * DAY_MS),
    );
  }
  return byTest;
}

const newestOf = (identities: readonly IdentityEnd[]): number =>
  identities.reduce((newest, one) => Math.max(newest, one.newestAt), 0);

async function markRecovered(
  { repositoryId, quarantines, figures }: QuarantineContext,
  tests: ReadonlyMap<string, IdentityEnd[]>,
  open: readonly Quarantine[],
): Promise<void> {
  const changes: { id: string; isRecovered: boolean }[] = [];
  for (const [quarantine, evidence] of await recoveryOf(figures, tests, open)) {
    const now = isRecovered(evidence.map((one) => one.evidence));
    if (now !== quarantine.isRecovered) changes.push({ id: quarantine.id, isRecovered: now });
  }
  await quarantines.setRecovered(repositoryId, changes);
}

/** What speaks for the recovery of each quarantined test, by identity. */
export async function recoveryOf(
  figures: FigureStore,
  tests: ReadonlyMap<string, IdentityEnd[]>,
  open: readonly Quarantine[],
): Promise<Map<Quarantine, { identity: IdentityEnd; evidence: RecoveryEvidence }[]>> {
  const found = new Map<Quarantine, { identity: IdentityEnd; evidence: RecoveryEvidence }[]>();
  // A test is quarantined once or, with branches, a few times: a round for each, most often one.
  for (const round of roundsOf(open)) {
    const since = new Map(
      round
        .filter((quarantine) => isCounted(quarantine, tests.get(quarantine.testId) ?? []))
        .map((quarantine) => [quarantine.testId, quarantine.createdAt.getTime()]),
    );
    const passes = await figures.passes(since);
    for (const quarantine of round)
      found.set(
        quarantine,
        (tests.get(quarantine.testId) ?? []).map((identity) => ({
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

function roundsOf(open: readonly Quarantine[]): Quarantine[][] {
  const rounds: Quarantine[][] = [];
  for (const group of Map.groupBy(open, (quarantine) => quarantine.testId).values())
    for (const [i, quarantine] of group.entries()) {
      rounds[i] ??= [];
      rounds[i].push(quarantine);
    }
  return rounds;
}

/** Whether its passes have to be counted: the row of clean ones began before the quarantine was made. */
const isCounted = (quarantine: Quarantine, identities: readonly IdentityEnd[]): boolean =>
  identities.some(({ state }) => state.cleanPasses > 0 && state.cleanSince <= quarantine.createdAt.getTime());

function cleanPassesSince(quarantine: Quarantine, identity: IdentityEnd, counted: ReadonlyMap<string, number>): number {
  const { cleanPasses, cleanSince } = identity.state;
  if (cleanPasses === 0 || cleanSince > quarantine.createdAt.getTime()) return cleanPasses;
  return counted.get(identityKey(identity)) ?? 0;
}

async function quarantineTests(
  { repositoryId, mode, quarantines, figures }: QuarantineContext,
  tests: ReadonlyMap<string, IdentityEnd[]>,
  open: readonly Quarantine[],
): Promise<void> {
  if (mode === 'off') return;
  const everywhere = new Set(open.flatMap(({ testId, branch }) => (branch === null ? [testId] : [])));
  const suspects = [...tests].filter(
    ([testId, identities]) =>
      !everywhere.has(testId) &&
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
  for (const found of Map.groupBy(await figures.figures(since), (one) => one.testId).values()) {
    const [first] = found;
    if (!first) continue;
    const reason = quarantineReason(mode, evidenceOf(found, tests.get(first.testId) ?? []));
    if (reason === null) continue;
    await quarantines.create(repositoryId, {
      testName: first.testName,
      reason,
      branch: null,
      source: 'auto',
      actor: AUTO_QUARANTINE_ACTOR,
    });
  }
}

function evidenceOf(figures: readonly Figures[], identities: readonly IdentityEnd[]) {
  const health = new Map(identities.map((identity) => [identityKey(identity), identity.state.health]));
  return figures.flatMap((one) => {
    const known = health.get(identityKey(one));
    return known ? [{ ...one, health: known }] : [];
  });
}
