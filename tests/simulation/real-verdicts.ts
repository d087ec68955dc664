/** Verdicts on the tests of a real history, by rules or by a service: after each run, and at the end of each day. */
import type { Health } from '../../src/domain/status.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import type { Rules } from './history.ts';
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
