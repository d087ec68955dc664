/** Repositories whose failures have causes that are known: outages, broken commits, flaky services, messages that say nothing. */
import type { FailedInRun } from '../../src/domain/cause-node.ts';
import { type Signature, signatureOf } from '../../src/domain/cause-signature.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { randomFrom } from '../support/random.ts';

export interface PlantedFailure extends FailedInRun {
  /** The number of its cause. */
  cause: number;
}

export const REPOSITORY = '6ba7b810-9dad-51d1-80b4-00c04fd430c8';
const DAYS = 90;
const TESTS = 400;
const TESTS_OF_MODULE = 10;
const NOUNS =
  'cart order invoice ledger shipment customer session basket catalogue voucher refund tax warehouse supplier payment quota tenant replica shard bucket index parser planner scheduler router gateway broker mailer renderer exporter importer archive snapshot journal registry profile avatar comment thread channel'.split(
    ' ',
  );
const VERBS = 'parse load store render merge split resolve encode decode publish migrate validate reserve cancel'.split(
  ' ',
);
const GENERIC: readonly [string, string][] = [
  ['AssertionError', 'assert False'],
  ['AssertionError', 'expected true to be false'],
  ['TimeoutError', ''],
  ['TimeoutError', 'Timeout exceeded: 30 seconds'],
  ['Error', 'expected 3 to equal 4'],
  ['CalledProcessError', 'command returned non-zero exit status 1'],
];
/** How many causes of each kind a world has. */
const KINDS = {
  'outage with hosts': 12,
  'outage with three exceptions': 8,
  'break with one exception': 25,
  'break with several': 15,
  'helper that names the test': 10,
  'flaky service': 20,
  generic: 60,
  'twin breaks': 8,
  'message that returns': 10,
  'test with an own fault': 30,
} as const;

interface Planted {
  tests: readonly number[];
  /** Days since the beginning. */
  from: number;
  to: number;
  /** How often each test fails in a run between. */
  chance: number;
  text(test: number, pick: Pick): { type: string; message: string; frames: string[] };
}
type Pick = <T>(from: readonly T[]) => T;

/** @param hasStacks whether failures have stack frames */
export function makeCauseWorld(seed: number, runsADay: number, hasStacks = true): PlantedFailure[] {
  const random = randomFrom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const pick: Pick = (from) => from[below(from.length)] as (typeof from)[number];
  const planted = plant(below, pick, random);
  const signatures = new Map<string, Signature>();
  const failures: PlantedFailure[] = [];
  const runs = Array.from({ length: DAYS * runsADay }, (_, i) => ({
    key: `run ${i}`,
    at: Math.floor(((i + random() * 0.8) / runsADay) * DAY_MS),
  }));
  planted.forEach((cause, number) => {
    const hit = runs.filter(({ at }) => at >= cause.from * DAY_MS && at < cause.to * DAY_MS);
    // A cause that no run has met would not be one.
    for (const run of hit.length > 0 ? hit : runs.filter(({ at }) => at >= cause.from * DAY_MS).slice(0, 1))
      for (const test of cause.tests) {
        if (random() >= cause.chance) continue;
        const { type, message, frames } = cause.text(test, pick);
        const testId = testIdOf(test);
        const key = `${testId}\0${type}\0${message}`;
        const signature = signatures.get(key) ?? signatureOf(REPOSITORY, testId, type, message);
        signatures.set(key, signature);
        failures.push({
          ...{ signature, testId, run: run.key, failedAt: run.at, cause: number },
          ...{ frames: hasStacks ? frames : [], file: fileOf(test) },
        });
      }
  });
  return failures;
}

const testIdOf = (test: number): string => `00000000-0000-4000-8000-${test.toString(16).padStart(12, '0')}`;
const fileOf = (test: number): string => `tests/module_${Math.floor(test / TESTS_OF_MODULE)}.py`;

function plant(below: (n: number) => number, pick: Pick, random: () => number): Planted[] {
  const some = (count: number): number[] => {
    const chosen = new Set<number>();
    while (chosen.size < count) chosen.add(below(TESTS));
    return [...chosen];
  };
  /** Tests of neighbouring modules, as a broken commit hits them. */
  const near = (count: number): number[] => {
    const from = below(TESTS);
    return Array.from({ length: count }, (_, i) => (from + i) % TESTS);
  };
  let serial = 0;
  const phrase = (): string => `${pick(VERBS)} ${pick(NOUNS)} ${pick(NOUNS)} ${letters(serial++)}`;
  const during = (days: number): Span => {
    const from = random() * (DAYS - days);
    return { from, to: from + days };
  };
  const all: Planted[] = [];
  const add = (count: number, make: () => Planted): void => {
    for (let i = 0; i < count; i++) all.push(make());
  };
  add(KINDS['outage with hosts'], () => {
    const service = `${pick(NOUNS)}-${letters(serial++)}`;
    return {
      ...{ tests: some(8 + below(60)), ...during(0.1 + random()), chance: 0.8 },
      text: (test) => ({
        type: 'ConnectionError',
        message: `cannot reach '${service}-${letters(test)}.internal' port closed by peer`,
        frames: [`connect ${service}.py`],
      }),
    };
  });
  add(KINDS['outage with three exceptions'], () => {
    const [what, frame] = [phrase(), `query ${letters(serial)}.py`];
    const texts = [
      ['OperationalError', `server closed the connection during ${what}`],
      ['InterfaceError', `cursor unusable for ${what}`],
      ['ProtocolError', `broken pipe towards ${what}`],
    ] as const;
    return {
      ...{ tests: some(9 + below(50)), ...during(0.1 + random()), chance: 0.8 },
      text: (_, choose) => {
        const [type, message] = choose(texts);
        return { type, message, frames: [frame] };
      },
    };
  });
  add(KINDS['break with one exception'], () => {
    const [what, frame] = [phrase(), `${pick(VERBS)} ${letters(serial)}.py`];
    return {
      ...{ tests: near(5 + below(36)), ...during(1 + random() * 4), chance: 1 },
      text: () => ({ type: 'ImportError', message: `cannot import name to ${what}`, frames: [frame] }),
    };
  });
  add(KINDS['break with several'], () => breakWithSeveral(near(6 + below(30)), phrase, during(1 + random() * 4)));
  add(KINDS['helper that names the test'], () => {
    const what = phrase();
    return {
      ...{ tests: near(6 + below(20)), ...during(1 + random() * 3), chance: 0.9 },
      text: (test) => ({
        type: 'FixtureError',
        message: `fixture of module_x.test_${letters(test)}_case gave up: ${what}`,
        frames: [`prepare ${letters(what.length)}_helpers.py`],
      }),
    };
  });
  add(KINDS['flaky service'], () => {
    const [what, frame] = [phrase(), `call ${letters(serial)}.py`];
    return {
      ...{ tests: some(3 + below(15)), ...during(20 + random() * 60), chance: 0.02 },
      text: () => ({ type: 'ServiceError', message: `upstream refused to ${what}`, frames: [frame] }),
    };
  });
  add(KINDS.generic, () => {
    const [type, message] = pick(GENERIC);
    const frames = random() < 0.5 ? ['wait_until helpers.py'] : [];
    return { tests: some(1), ...during(5 + random() * 60), chance: 0.1, text: () => ({ type, message, frames }) };
  });
  add(KINDS['twin breaks'], () => {
    const days = 1 + random() * 2;
    const first = breakWithSeveral(near(6 + below(20)), phrase, during(days));
    const from = Math.min(DAYS - days, first.from + random() * 0.2);
    all.push(breakWithSeveral(near(6 + below(20)), phrase, { from, to: from + days }));
    return first;
  });
  add(KINDS['message that returns'], () => {
    const what = phrase();
    const make = (from: number): Planted => ({
      ...{ tests: near(3 + below(10)), from, to: from + 2, chance: 0.9 },
      text: () => ({
        type: 'SchemaError',
        message: `column missing in ${what}`,
        frames: [`migrate ${letters(what.length)}.py`],
      }),
    });
    const from = random() * 30;
    all.push(make(from + 22 + random() * 30));
    return make(from);
  });
  add(KINDS['test with an own fault'], () => {
    const what = phrase();
    return {
      ...{ tests: some(1), ...during(5 + random() * 60), chance: 0.1 },
      text: () => ({ type: 'AssertionError', message: `wrong total after ${what}`, frames: [] }),
    };
  });
  return all;
}

interface Span {
  from: number;
  to: number;
}

/** One commit that breaks a function: its callers fail with what each of them makes of it. */
function breakWithSeveral(tests: number[], phrase: () => string, during: Span): Planted {
  const what = phrase();
  const [noun = '', other = ''] = what.split(' ').slice(1);
  const texts: readonly [string, string][] = [
    ['LookupError', `no ${noun} for ${other} (${what})`],
    ['StateError', `${other} left half done: ${what}`],
    ['AssertionError', `wrong ${noun} after ${what}`],
  ];
  return {
    ...{ tests, ...during, chance: 1 },
    text: (test) => {
      const [type, message] = texts[test % texts.length] ?? ['', ''];
      return { type, message, frames: [`apply ${what.split(' ').at(-1)}.py`] };
    },
  };
}

/** A made-up word for a number: digits would be normalised. */
const letters = (n: number): string =>
  `${'bcdfgklmnprst'[n % 13]}${'aeiou'[Math.floor(n / 13) % 5]}${'bdgklmnprst'[Math.floor(n / 65) % 11]}${'aeiou'[Math.floor(n / 715) % 5]}n`;
