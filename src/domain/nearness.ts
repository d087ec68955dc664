/** How near a test is to the files that a change touches. Pure. */

export interface Nearness {
  /** How many times likelier a change breaks the test for it. */
  factor: number;
  /** The nearest changed file; null: none is near. */
  file: string | null;
}

/** The test's own file is changed, one of the same name (`cart.ts` of `test_cart.py`), one of the same folder, or none near. */
export const NEARNESS_KINDS = ['file', 'name', 'folder', 'far'] as const;
export type NearnessKind = (typeof NEARNESS_KINDS)[number];

/** How many times likelier a change breaks a test that is so near to it than any test. */
export type NearnessFactors = Readonly<Record<NearnessKind, number>>;

/** The factors until the history of a repository says more. They are small, so that no claim rests on them alone. */
export const FACTORS_BEFORE: NearnessFactors = { file: 6, name: 4, folder: 2, far: 0.7 };
const NOT_KNOWN: Nearness = { factor: 1, file: null };

/** What runners add to the name of the file that a test is for. */
const TEST_WORDS = /^(?:test|tests|spec|it|e2e)[-_.]|[-_.](?:test|tests|spec|it|e2e)$|(?:Tests?|Spec|IT)$/gu;
/** A shorter name, such as `a`, is that of many files. */
const NAME_LENGTH_MIN = 3;
/** These are names of many files that have nothing in common. */
const COMMON_NAMES: ReadonlySet<string> = new Set([
  'index',
  'main',
  'mod',
  'lib',
  'init',
  'conftest',
  'utils',
  'helpers',
]);

/**
 * @param testFile as its runner names it; it may begin elsewhere than the root of the repository. Null: not known
 * @param changed from the root of the repository; empty: not known
 */
export function nearnessOf(
  testFile: string | null,
  changed: readonly string[],
  factors: NearnessFactors = FACTORS_BEFORE,
): Nearness {
  const nearest = testFile ? nearestOf(testFile, changed) : undefined;
  return nearest ? { factor: factors[nearest.kind], file: nearest.file } : NOT_KNOWN;
}

/** The nearest changed file, and how near it is. Undefined: no changed file is known. */
export function nearestOf(
  testFile: string,
  changed: readonly string[],
): { kind: NearnessKind; file: string | null } | undefined {
  if (changed.length === 0) return undefined;
  const own = plain(testFile);
  const near = (isNear: (file: string) => boolean): string | undefined => changed.find((file) => isNear(plain(file)));
  const name = subjectOf(own);
  const folder = folderOf(own);
  const found: [NearnessKind, string | undefined][] = [
    ['file', near((file) => file === own || own.endsWith(`/${file}`) || file.endsWith(`/${own}`))],
    ['name', name === '' ? undefined : near((file) => subjectOf(file) === name)],
    ['folder', folder === '' ? undefined : near((file) => isSameFolder(folderOf(file), folder))],
  ];
  for (const [kind, file] of found) if (file !== undefined) return { kind, file };
  return { kind: 'far', file: null };
}

/**
 * A change that breaks a test near it breaks others with it anywhere: that such a one is far then says nothing.
 *
 * @param others the factors of the tests that failed in the same run, and are healthy on the default branch
 */
export const nearnessTogether = (own: number, others: Iterable<number>): number =>
  own < 1 && [...others].some((factor) => factor > 1) ? 1 : own;

const plain = (path: string): string => path.replaceAll('\\', '/').replace(/^\.\//, '');
const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** One may begin further up. */
const isSameFolder = (one: string, other: string): boolean =>
  one !== '' && (one === other || one.endsWith(`/${other}`) || other.endsWith(`/${one}`));

/** What a file is about, by its name: `cart` of `cart.ts`, `test_cart.py` and `CartTest.java`; empty if it says nothing. */
function subjectOf(path: string): string {
  const base = path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]*$/, '');
  const name = base.replaceAll(TEST_WORDS, '').replaceAll(/[-_]/g, '').toLowerCase();
  return name.length < NAME_LENGTH_MIN || COMMON_NAMES.has(name) ? '' : name;
}
