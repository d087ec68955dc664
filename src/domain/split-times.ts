/** How long each name of a split takes, from what is known of tests, classes and files. Pure. */
import type { TimedName } from './split.ts';
import { namesAround, partsOfClass, partsOfFile, plainPath, reportedNames, type SplitBy } from './split-names.ts';

/** Tests of one file and class, together. */
export interface TimedGroup {
  /** Empty if reports do not name it. */
  file: string;
  /** A test's name without its own; empty if it has none. */
  className: string;
  /** The sum for all its tests. */
  seconds: number;
  tests: number;
}

export interface Times {
  /** By name of the test. */
  tests: ReadonlyMap<string, number>;
  groups: readonly TimedGroup[];
}

export interface TimedNames {
  names: TimedName[];
  /** How many have executions. */
  known: number;
}

/** Nothing at all is known. */
const SECONDS_UNKNOWN = 1;

/** A name without executions takes as long as a test around it does on average, else as the median of the others. */
export function timedNames(names: readonly string[], by: SplitBy, times: Times): TimedNames {
  const { own, around } = READERS[by](times);
  const known = new Map<string, number>();
  for (const name of names) {
    const seconds = own(name);
    if (seconds !== undefined) known.set(name, seconds);
  }
  const usual = medianOf([...known.values()]) ?? SECONDS_UNKNOWN;
  return {
    names: names.map((name) => ({ name, ms: millisecondsOf(known.get(name) ?? around(name) ?? usual) })),
    known: known.size,
  };
}

/** At least one: of names that take no time, each still starts something. */
const millisecondsOf = (seconds: number): number => Math.max(1, Math.round(seconds * 1_000));

interface Reader {
  own(name: string): number | undefined;
  around(name: string): number | undefined;
}

const READERS: Readonly<Record<SplitBy, (times: Times) => Reader>> = {
  test: ({ tests, groups }) => ({
    own: (name) => firstOf(reportedNames(name), (reported) => tests.get(reported)),
    around: meansAround(groups),
  }),
  class: ({ groups }) => {
    const classes = new Map<string, number>();
    for (const { className, seconds } of groups) if (className !== '') add(classes, className, seconds);
    const means = new Map(
      Map.groupBy(groups, ({ className }) => parentOf(className))
        .entries()
        .map(([parent, inner]) => [parent, inner.reduce((sum, { seconds }) => sum + seconds, 0) / inner.length]),
    );
    return {
      own: (name) => firstOf(reportedNames(name), (reported) => classes.get(reported)),
      around: (name) => firstOf(reportedNames(name).flatMap(namesAround), (parent) => means.get(parent)),
    };
  },
  file: ({ groups }) => ({ own: secondsOfFile(groups), around: () => undefined }),
};

const parentOf = (className: string): string => namesAround(className)[0] ?? '';

/** The mean time of a test in the nearest class, suite or folder around it that has known tests. */
function meansAround(groups: readonly TimedGroup[]): (name: string) => number | undefined {
  const sums = new Map<string, { seconds: number; tests: number }>();
  for (const { className, seconds, tests } of groups) {
    if (className === '') continue;
    for (const around of [className, ...namesAround(className)]) {
      const sum = sums.get(around) ?? { seconds: 0, tests: 0 };
      sums.set(around, { seconds: sum.seconds + seconds, tests: sum.tests + tests });
    }
  }
  return (name) =>
    firstOf(reportedNames(name).flatMap(namesAround), (around) => {
      const sum = sums.get(around);
      return sum && sum.seconds / sum.tests;
    });
}

/**
 * The time of a file: of the tests that reports give to it, or whose class it is, as in reports of pytest and JUnit. A
 * report's path and the list's may begin at different folders: then the longer one ends with the other.
 */
function secondsOfFile(groups: readonly TimedGroup[]): (name: string) => number | undefined {
  const files = new Map<string, number>();
  const byEnd = new Map<string, string[][]>();
  const byPart = new Map<string, TimedGroup[]>();
  for (const group of groups) {
    const path = plainPath(group.file);
    if (path !== '' && !files.has(path)) push(byEnd, endOf(path), path.split('/'));
    if (path !== '') add(files, path, group.seconds);
    else for (const part of new Set(partsOfClass(group.className))) push(byPart, part, group);
  }
  const exactly = (path: string) => files.get(path);
  const alike = (path: string): number | undefined => {
    const found = (byEnd.get(endOf(path)) ?? []).filter((parts) => endsAlike(parts, path.split('/')));
    const [only, ...others] = found;
    return only && others.length === 0 ? files.get(only.join('/')) : undefined;
  };
  const asClass = (path: string): number | undefined => {
    const parts = partsOfFile(path);
    const inner = (byPart.get(parts.at(-1) ?? '') ?? []).filter(({ className }) =>
      isWithin(partsOfClass(className), parts),
    );
    return inner.length === 0 ? undefined : inner.reduce((sum, { seconds }) => sum + seconds, 0);
  };
  return (name) => firstOf([exactly, alike, asClass], (read) => read(plainPath(name)));
}

const endOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

const endsAlike = (one: readonly string[], other: readonly string[]): boolean => {
  const shorter = Math.min(one.length, other.length);
  return one.slice(-shorter).join('/') === other.slice(-shorter).join('/');
};

/** Whether a class is that of a file (`tests.test_cart`, `com.acme.CartTest` of a file far below), or within it. */
const isWithin = (className: readonly string[], file: readonly string[]): boolean =>
  endsAlike(className.slice(0, className.indexOf(file.at(-1) ?? '') + 1), file);

function firstOf<T, R>(items: readonly T[], read: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = read(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function medianOf(numbers: number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

const add = (sums: Map<string, number>, key: string, value: number): void =>
  void sums.set(key, (sums.get(key) ?? 0) + value);

function push<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
