/** How near a test is to the files that a change touches. Pure. */

export interface Nearness {
  /** How many times likelier a change breaks the test for it. */
  factor: number;
  /** The nearest changed file; null: none is near. */
  file: string | null;
}

/**
 * The test's own file, one of the same name (`cart.ts` of `test_cart.py`), one of the same folder, none near. Set by judgement:
 * no history says so far which files a change touched. They are small, so that no claim rests on them alone.
 */
const FACTORS = { file: 6, name: 4, folder: 2, far: 0.7 } as const;
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
export function nearnessOf(testFile: string | null, changed: readonly string[]): Nearness {
  if (!testFile || changed.length === 0) return NOT_KNOWN;
  const own = plain(testFile);
  const near = (isNear: (file: string) => boolean): string | undefined => changed.find((file) => isNear(plain(file)));
  const name = subjectOf(own);
  const folder = folderOf(own);
  const found: [keyof typeof FACTORS, string | undefined][] = [
    ['file', near((file) => file === own || own.endsWith(`/${file}`) || file.endsWith(`/${own}`))],
    ['name', name === '' ? undefined : near((file) => subjectOf(file) === name)],
    ['folder', folder === '' ? undefined : near((file) => isSameFolder(folderOf(file), folder))],
  ];
  for (const [kind, file] of found) if (file !== undefined) return { factor: FACTORS[kind], file };
  return { factor: FACTORS.far, file: null };
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
