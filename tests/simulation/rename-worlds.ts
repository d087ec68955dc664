/** Made-up repositories whose tests are renamed, moved, added and removed, one kind of change in each. Which became which is known. */
import type { SeenTest } from '../../src/domain/renames.ts';
import { randomFrom } from '../support/random.ts';

/** Changes with a truth to find. */
export const RENAMES = ['file', 'files', 'class', 'some', 'name', 'names', 'rows', 'one', 'known'] as const;
/** Changes in which nothing was renamed. */
export const NO_RENAMES = ['replaced', 'replaced file', 'rows changed', 'cut run', 'new job'] as const;
export type RenameKind = (typeof RENAMES)[number] | (typeof NO_RENAMES)[number];

export interface RenameWorld {
  tests: SeenTest[];
  commits: Map<string, number>;
  /** The id of the new test by that of the old one. */
  truth: Map<string, string>;
}

const VERBS = ['adds', 'removes', 'rejects', 'keeps', 'sends', 'reads', 'counts', 'refuses', 'renders', 'closes'];
const THINGS = ['item', 'cart', 'card', 'order', 'tax', 'coupon', 'user', 'total', 'page', 'mail', 'price', 'stock'];
const HOW = ['', '', 'twice', 'when empty', 'after login', 'for guests', 'with discount', 'in order'];
/** Names that every file has. */
const COMMON = ['renders', 'works', 'is empty'];
const LEGS = ['ci\0unit\0', 'ci\0unit\0os=windows'];
const COMMITS = 20;

interface Made {
  container: string;
  own: string;
  row: string;
  history?: string;
}

interface Style {
  nameOf(test: Made): string;
  fileOf(container: string): string;
}

const camel = (words: string): string => words.replace(/ (\w)/g, (_, letter: string) => letter.toUpperCase());
const pascal = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

const STYLES: readonly Style[] = [
  // JUnit, which reports no file.
  {
    nameOf: ({ container, own, row }) =>
      `com.acme.${container
        .split('/')
        .map((part, i, all) => (i === all.length - 1 ? `${pascal(part)}Test` : part))
        .join('.')}.${camel(own)}${row}`,
    fileOf: () => '',
  },
  // pytest
  {
    nameOf: ({ container, own, row }) =>
      `tests.${container.replaceAll('/', '.test_')}.test_${own.replaceAll(' ', '_')}${row}`,
    fileOf: (container) => `tests/${container}.py`,
  },
  // Jest: the suite is not named after its file.
  {
    nameOf: ({ container, own, row }) => `${pascal(container.split('/').at(-1) ?? '')} > ${own}${row}`,
    fileOf: (container) => `src/${container}.test.ts`,
  },
];

/** One change between two commits of a repository of some 20 files. */
export function makeRenameWorld(kind: RenameKind, seed: number): RenameWorld {
  const random = randomFrom(seed);
  const below = (n: number): number => Math.floor(random() * n);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] ?? (from[0] as T);
  const style = pick(STYLES);
  const legs = random() < 0.5 ? LEGS : LEGS.slice(0, 1);
  const at = 4 + below(COMMITS - 8);
  const own = (): string => `${pick(VERBS)} ${pick(THINGS)} ${pick(HOW)}`.trim();
  const container = (): string => `${pick(THINGS)}/${pick(THINGS)}${below(60)}`;
  const suite = (size: number): string[] => {
    const names = new Set<string>(random() < 0.6 ? [pick(COMMON)] : []);
    while (names.size < size) names.add(own());
    return [...names];
  };
  const world: RenameWorld = { tests: [], commits: new Map(legs.map((leg) => [leg, COMMITS])), truth: new Map() };
  const known = new Set<string>();
  const see = (test: Made, first: number, last: number, ofLegs = legs): string => {
    const name = style.nameOf(test);
    const spans = ofLegs.map((leg) => ({ leg, first, last }));
    world.tests.push({ testId: name, name, file: style.fileOf(test.container), history: test.history ?? '', spans });
    known.add(name);
    return name;
  };
  const left = (test: Made): string => see(test, 0, at - 1);
  const came = (test: Made): string => see(test, at, COMMITS - 1);
  const stays = (test: Made): string => see(test, 0, COMMITS - 1);
  const became = (from: Made, to: Made): void => void world.truth.set(left(from), came(to));
  const containers = new Set<string>();
  while (containers.size < 24) containers.add(container());
  const [subject = '', target = '', ...others] = containers;
  for (const other of others.slice(6))
    for (const name of suite(1 + below(8))) stays({ container: other, own: name, row: '' });
  const names = suite(2 + below(7));
  const all = names.map((name) => ({ container: subject, own: name, row: '' }));
  const [first = { container: subject, own: 'works', row: '' }, ...rest] = all;
  const rowsOf = (values: readonly string[]) => values.map((value) => `[${value}]`);

  // In a quarter of all changes, others were removed and added beside it.
  if (random() < 0.25)
    for (const other of others.slice(0, 3)) {
      const [gone = 'works', fresh = 'is new'] = suite(2);
      left({ container: other, own: gone, row: '' });
      came({ container: `${other}x`, own: fresh, row: '' });
    }

  switch (kind) {
    case 'file': // A file and its class got another name.
      for (const test of all) became(test, { ...test, container: target });
      break;
    case 'files': // A folder moved: several files with the same names in part.
      for (const moved of [subject, ...others.slice(3, 6)])
        for (const name of moved === subject ? names : suite(1 + below(4))) {
          const test = { container: moved, own: name, row: '' };
          became(test, { ...test, container: `moved/${moved}` });
        }
      break;
    case 'class': // Its folder is another, and the file keeps its name.
      for (const test of all) became(test, { ...test, container: `other/${subject.split('/').at(-1)}` });
      break;
    case 'some': // A part of a file went to a file that had tests.
      for (const name of suite(3)) stays({ container: target, own: `${name} there`, row: '' });
      for (const [i, test] of all.entries())
        if (i < all.length / 2) became(test, { ...test, container: target });
        else stays(test);
      break;
    case 'name': // One word of a name changed, or one was added.
      for (const test of rest) stays(test);
      became(first, { ...first, own: random() < 0.5 ? `${first.own} safely` : changeWord(first.own, pick(THINGS)) });
      break;
    case 'names': // Every name of a file got a prefix.
      for (const test of all) became(test, { ...test, own: `it ${test.own}` });
      break;
    case 'rows': // A parametrised test got another name.
      for (const test of rest) stays(test);
      for (const row of rowsOf(['1-2', '3-4', 'a.b']))
        became({ ...first, row }, { ...first, row, own: `${first.own} at once` });
      break;
    case 'one': // One test moved to a new file.
      for (const test of rest) stays(test);
      became(first, { ...first, container: target });
      break;
    case 'known': // Tests moved under names that say nothing, and their framework knows them.
      for (const [i, test] of all.entries()) {
        const history = `history ${i}`;
        became(
          { ...test, history },
          { container: target, own: `case ${all.length - i} ${pick(VERBS)}`, row: '', history },
        );
      }
      break;
    case 'replaced': // A test was removed, and another was written in its file.
      for (const test of rest) stays(test);
      left(first);
      came({ ...first, own: `${own()} ${pick(HOW)}`.trim() });
      break;
    case 'replaced file': // A file was removed, and another was written.
      for (const test of all) left(test);
      for (const name of suite(2 + below(7))) came({ container: target, own: name, row: '' });
      break;
    case 'rows changed': // The rows of a parametrised test are others.
      for (const test of rest) stays(test);
      for (const row of rowsOf(['1-2', '3-4'])) left({ ...first, row });
      for (const row of rowsOf(['5-6', '7-8'])) came({ ...first, row });
      break;
    case 'cut run': // The newest runs lack a part, and something was written meanwhile.
      for (const test of all) see(test, 0, COMMITS - 2);
      for (const test of all) see({ ...test, container: target }, COMMITS - 1, COMMITS - 1);
      break;
    case 'new job': // Tests of one leg ended, and those of the same names began in another.
      for (const test of all) see(test, 0, at - 1, LEGS.slice(0, 1));
      for (const test of all) see({ ...test, container: target }, at, COMMITS - 1, LEGS.slice(1));
      break;
  }
  // The same name twice is one test: a change to itself is none.
  const once = new Map(world.tests.map((test) => [test.testId, test]));
  if (once.size < world.tests.length) return makeRenameWorld(kind, seed + 7_919);
  return world;
}

const changeWord = (name: string, to: string): string => {
  const words = name.split(' ');
  return [...words.slice(0, -1), to === words.at(-1) ? `${to}s` : to].join(' ');
};
