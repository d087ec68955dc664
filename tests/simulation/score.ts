/** Compares what the rules said with what was true. */
import type { Replay } from './replay.ts';
import { type State, truthOf, type World } from './world.ts';

export interface Delay {
  kind: string;
  /** How many were detected, of how many. */
  seen: number;
  of: number;
  medianDays: number;
  p90Days: number;
}

export interface Scores {
  /** Of tests that were ever called flaky, how many ever were. */
  flakyPrecision: { right: number; of: number };
  /** Of days on which a test was called broken, on how many it was. */
  brokenPrecision: { right: number; of: number };
  /** What the other days were. */
  falselyBrokenDays: Record<string, number>;
  brokenRecall: { right: number; of: number };
  toDetect: Delay[];
  toRecover: Delay[];
  /** Verdicts that got worse on a day on which everything failed. */
  changedByOutages: number;
  /** Auto-quarantines by kind of test, and how many of them were released as recovered while the trouble was still there. */
  quarantines: Record<string, { made: number; releasedTooEarly: number }>;
  falseQuarantines: { test: string; day: number; reason: string }[];
}

const WORSE: Readonly<Record<State, number>> = { healthy: 0, flaky: 1, broken: 2 };

export function score(world: World, replay: Replay): Scores {
  const { tests, outageDays } = world;
  const days = [...Array(world.options.days).keys()];
  const isOutage = new Set(outageDays);
  const flaky = { right: 0, of: 0 };
  const broken = { right: 0, of: 0 };
  const recall = { right: 0, of: 0 };
  const falsely: Record<string, number> = {};
  let changedByOutages = 0;
  for (const [index, test] of tests.entries()) {
    const health = replay.health[index] ?? [];
    if (health.includes('flaky')) {
      flaky.of++;
      if (test.troubles.some((trouble) => trouble.state === 'flaky')) flaky.right++;
    }
    for (const day of days) {
      if (day < test.from || day >= test.to) continue;
      const [said, truth] = [health[day], truthOf(test, day)];
      if (truth === 'broken') recall.of++;
      if (said === 'broken') {
        broken.of++;
        if (truth === 'broken') {
          broken.right++;
          recall.right++;
        } else falsely[`${test.kind}, ${truth}`] = (falsely[`${test.kind}, ${truth}`] ?? 0) + 1;
      }
      const before = health[day - 1];
      if (isOutage.has(day) && said && before && WORSE[said] > WORSE[before] && truthOf(test, day - 1) === truth)
        changedByOutages++;
    }
  }
  const falseQuarantines = replay.quarantines.flatMap(({ test: index, day, reason }) => {
    const test = tests[index];
    // Yesterday's trouble may be detected today.
    const wasTrouble = test && [day, day - 1].some((one) => truthOf(test, one) !== 'healthy');
    return test && !wasTrouble ? [{ test: test.name, day, reason }] : [];
  });
  const quarantines: Scores['quarantines'] = {};
  for (const { test: index, recoveredOn } of replay.quarantines) {
    const test = tests[index];
    if (!test) continue;
    quarantines[test.kind] ??= { made: 0, releasedTooEarly: 0 };
    const counts = quarantines[test.kind] as { made: number; releasedTooEarly: number };
    counts.made++;
    if (recoveredOn !== undefined && truthOf(test, recoveredOn) !== 'healthy') counts.releasedTooEarly++;
  }
  return {
    flakyPrecision: flaky,
    brokenPrecision: broken,
    falselyBrokenDays: falsely,
    brokenRecall: recall,
    toDetect: delays(world, replay, 'detect'),
    toRecover: delays(world, replay, 'recover'),
    changedByOutages,
    quarantines,
    falseQuarantines,
  };
}

/** By kind: days from the start of a trouble until it is detected, or from its end until the test is called healthy. */
function delays({ tests, options }: World, replay: Replay, what: 'detect' | 'recover'): Delay[] {
  const found = new Map<string, (number | undefined)[]>();
  for (const [index, test] of tests.entries())
    for (const trouble of test.troubles) {
      const from = Math.max(trouble.from, test.from);
      const to = Math.min(trouble.to, test.to);
      if (from >= to || (what === 'recover' && trouble.to >= Math.min(options.days, test.to))) continue;
      const health = replay.health[index] ?? [];
      const wasSeen = health.slice(from, to).includes(trouble.state);
      // A trouble that was never detected has no recovery.
      if (what === 'recover' && !wasSeen) continue;
      const start = what === 'detect' ? from : to;
      const wanted: State = what === 'detect' ? trouble.state : 'healthy';
      const end = what === 'detect' ? to : test.to;
      const day = health.findIndex((said, day) => day >= start && day < end && said === wanted);
      const kind = `${test.kind}${test.isRenamed && test.from > 0 ? ', under its new name' : ''}`;
      const all = found.get(kind) ?? [];
      found.set(kind, all);
      all.push(day < 0 ? undefined : day - start);
    }
  return [...found].map(([kind, all]) => {
    const seen = all.filter((days) => days !== undefined).sort((a, b) => a - b);
    const at = (share: number): number =>
      seen[Math.min(seen.length - 1, Math.floor(share * seen.length))] ?? Number.NaN;
    return { kind, seen: seen.length, of: all.length, medianDays: at(0.5), p90Days: at(0.9) };
  });
}
