/**
 * The file of a test in its repository. Runners spell it differently: from the root, from a package, from the root of the
 * machine, or as a class. So it is matched to the files of the repository by the longest common tail.
 */

/** In names: what two files share beyond that tells nothing more. */
const TAIL_NAMES_MAX = 32;

/** A path as a runner reports it, in names. */
export interface ReportedPath {
  names: string[];
  /** Whether it begins at the root of a machine, or outside of the folder where the runner works. */
  isOutside: boolean;
}

/** Undefined if it has no name. */
export function reportedPath(path: string): ReportedPath | undefined {
  const text = path.replace(/^file:\/\//, '').replaceAll('\\', '/');
  const isOutside = /^(?:\/|[A-Za-z]:\/|\.\.\/)/.test(text);
  const names = text
    .replace(/^[A-Za-z]:\//, '')
    .split('/')
    .filter((name) => name !== '' && name !== '.' && name !== '..');
  return names.length === 0 ? undefined : { names, isOutside };
}

/** Its tails, the longest first: `a/b.ts`, `b.ts`. */
export const tailsOf = (names: readonly string[]): string[] =>
  names.slice(-TAIL_NAMES_MAX).map((_, i, last) => last.slice(i).join('/'));

export type FileOfTest = { path: string } | 'ambiguous' | undefined;

/** The files of a repository, found by how their paths end. */
export class RepositoryFiles {
  readonly #byTail = new Map<string, string | null>();
  /** Without the extension of the file. */
  readonly #byStem = new Map<string, string | null>();

  constructor(files: Iterable<string>) {
    for (const file of new Set(files)) {
      for (const tail of tailsOf(file.split('/'))) {
        add(this.#byTail, tail, file);
        const stem = tail.replace(/\.[^./]*$/, '');
        if (stem !== tail) add(this.#byStem, stem, file);
      }
    }
  }

  /** The file that shares the longest tail with a path; ambiguous if several share it, undefined if none shares a name. */
  ofPath(names: readonly string[]): FileOfTest {
    for (const tail of tailsOf(names)) {
      const found = this.#byTail.get(tail);
      if (found !== undefined) return found === null ? 'ambiguous' : { path: found };
    }
    return undefined;
  }

  /**
   * The file of a class or a module that begins the name of a test: of `com.acme.FooTest.adds`, the one that ends with
   * `com/acme/FooTest` and an extension. The longest beginning counts; a single name is not looked for.
   */
  ofClass(testName: string): FileOfTest {
    const names = /^[\w$-]+(?:\.[\w$-]+)+/.exec(testName)?.[0].split('.') ?? [];
    for (let count = Math.min(names.length, TAIL_NAMES_MAX); count >= 2; count--) {
      const found = this.#byStem.get(names.slice(0, count).join('/').replace(/\$.*$/, ''));
      if (found !== undefined) return found === null ? 'ambiguous' : { path: found };
    }
    return undefined;
  }
}

/** Null: several files end so. */
function add(files: Map<string, string | null>, tail: string, file: string): void {
  files.set(tail, files.has(tail) && files.get(tail) !== file ? null : file);
}
