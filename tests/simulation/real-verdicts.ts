/** Verdicts on the tests of a real history, by rules or by a service: after each run, and at the end of each day. */
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import type { Rules, Run } from './history.ts';
import { daysOf, type RealHistory } from './real-history.ts';

/** By identity; those that are left out are healthy. */
export type NotHealthy = ReadonlyMap<number, Health>;

export interface Verdicts {
  /** By whom. */
  name: string;
  /** In the order of the runs: of the identities that ran, just afterwards. */
  afterRun: NotHealthy[];
  /** By day since 1970: of every identity. */
  atEndOfDay: Map<number, NotHealthy>;
  /** How likely what is said is right. Undefined where no one says so. */
  probabilities?: {
    /** In the order of the runs: of the identities that ran and are not healthy, just afterwards. */
    afterRun: ReadonlyMap<number, number>[];
    /** By day since 1970: of every identity. */
    atEndOfDay: Map<number, ArrayLike<number>>;
  };
  /** By day since 1970: flaky identities that are calm. Undefined where no one says so. */
  calm?: Map<number, ReadonlySet<number>>;
}

export const saidOf = (said: NotHealthy, identity: number): Health => said.get(identity) ?? 'healthy';

/** Plays the history to the rules. */
export function verdictsOf(history: RealHistory, rules: Rules): Verdicts {
  const verdicts: Verdicts = { name: rules.name, afterRun: [], atEndOfDay: new Map() };
  const saidOfThese = (identities: ArrayLike<number>): NotHealthy => {
    const said = new Map<number, Health>();
    for (let i = 0; i < identities.length; i++) {
      const health = rules.health(identities[i] as number);
      if (health !== 'healthy') said.set(identities[i] as number, health);
    }
    return said;
  };
  const all = [...history.identities.keys()];
  const { probability } = rules;
  if (probability) verdicts.probabilities = { afterRun: [], atEndOfDay: new Map() };
  const sureOf = (identity: number): number => probability?.call(rules, identity) ?? 0;
  for (const { day, runs } of daysOf(history)) {
    for (const run of runs) {
      rules.takeIn(run);
      rules.settle(run.at);
      const said = saidOfThese(run.identities);
      verdicts.afterRun.push(said);
      verdicts.probabilities?.afterRun.push(new Map([...said.keys()].map((one) => [one, sureOf(one)])));
    }
    rules.settle((day + 1) * DAY_MS);
    const said = saidOfThese(all);
    verdicts.atEndOfDay.set(day, said);
    verdicts.probabilities?.atEndOfDay.set(day, Float32Array.from(all, sureOf));
    if (!rules.isActive) continue;
    verdicts.calm ??= new Map();
    verdicts.calm.set(
      day,
      new Set(all.filter((one) => said.get(one) === 'flaky' && !rules.isActive?.(one, (day + 1) * DAY_MS))),
    );
  }
  return verdicts;
}

/**
 * What the rules say when they are asked as seldom as a service is ({@link untilAsked}): meanwhile, the legs of a test have shown
 * something about each other.
 */
export function verdictsAskedTogether(history: RealHistory, rules: Rules): Verdicts {
  const verdicts: Verdicts = { name: rules.name, afterRun: [], atEndOfDay: new Map() };
  const notHealthyOf = (identities: Iterable<number>): NotHealthy =>
    new Map(
      [...identities].map((one) => [one, rules.health(one)] as const).filter(([, health]) => health !== 'healthy'),
    );
  const everFailed = new Set<number>();
  for (const { day, runs } of daysOf(history)) {
    for (let next = 0; next < runs.length; ) {
      const together = untilAsked(runs, next, everFailed);
      for (const run of together) {
        rules.takeIn(run);
        rules.settle(run.at);
      }
      const ran = new Set(together.flatMap(({ identities }) => Array.from(identities)));
      verdicts.afterRun.push(...afterEach(together, notHealthyOf(ran)));
      next += together.length;
    }
    rules.settle((day + 1) * DAY_MS);
    verdicts.atEndOfDay.set(day, notHealthyOf(history.identities.keys()));
  }
  return verdicts;
}

/**
 * The runs from the first on that can be stored before verdicts are asked for again, and nothing that is said between them
 * is missed: until a test runs again that has ever failed. A test that has only passed is healthy.
 */
export function untilAsked(runs: readonly Run[], first: number, everFailed: Set<number>): Run[] {
  const asked = new Set<number>();
  const together: Run[] = [];
  for (const run of runs.slice(first)) {
    const identities = Array.from(run.identities);
    if (identities.some((identity) => asked.has(identity))) break;
    for (const identity of run.troubles.keys()) everFailed.add(identity);
    for (const identity of identities) if (everFailed.has(identity)) asked.add(identity);
    together.push(run);
  }
  return together;
}

/** The verdicts after each of these runs, from those after all. */
export function afterEach(runs: readonly Run[], notHealthy: NotHealthy): NotHealthy[] {
  const ranLater = new Set<number>();
  const after = runs.toReversed().map(({ identities }) => {
    const said = new Map<number, Health>();
    for (const identity of Array.from(identities)) {
      const health = notHealthy.get(identity);
      if (health && !ranLater.has(identity)) said.set(identity, health);
      ranLater.add(identity);
    }
    return said;
  });
  return after.reverse();
}

/** Where two differ, in words. */
export function differencesOf({ runs, identities }: RealHistory, one: Verdicts, other: Verdicts): string[] {
  const differences: string[] = [];
  const compare = (when: string, said: NotHealthy = new Map(), otherSaid: NotHealthy = new Map()): void => {
    for (const identity of new Set([...said.keys(), ...otherSaid.keys()])) {
      if (saidOf(said, identity) === saidOf(otherSaid, identity)) continue;
      const { test, suite } = identities[identity] ?? {};
      const both = `${one.name}: ${saidOf(said, identity)}, ${other.name}: ${saidOf(otherSaid, identity)}`;
      differences.push(`${when}, ${test} in ${suite}: ${both}`);
    }
  };
  for (const [i, { id, at }] of runs.entries())
    compare(`after run ${id} of ${new Date(at).toISOString()}`, one.afterRun[i], other.afterRun[i]);
  for (const [day, said] of one.atEndOfDay) compare(`at the end of ${isoDay(day)}`, said, other.atEndOfDay.get(day));
  return differences;
}

export const isoDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);
