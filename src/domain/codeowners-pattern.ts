/**
 * Patterns of CODEOWNERS over paths of a repository, as each host reads them.
 *
 * - GitHub: like .gitignore, without `!`, `[ ]` and `\#`. `*` and `?` match within a folder, `**` any number of folders. A
 *   pattern with a `/` before its end begins at the root; another matches at any depth. It means what it matches and, if
 *   that is a folder, all in it, except that one that ends with `/*` means only what is directly there.
 * - GitLab: as its `File.fnmatch` with `FNM_PATHNAME` and `FNM_DOTMATCH`. Only a pattern with a leading `/` begins at the
 *   root. One that ends with `/` means everything in that folder, any other only files. `**` counts before a `/` only.
 *   Classes such as `[a-z]` are not read: they stand for themselves, as on GitHub.
 *
 * `\` before a character takes it literally. Upper and lower case differ.
 */

export const CODEOWNERS_HOSTS = ['github', 'gitlab'] as const;
export type CodeownersHost = (typeof CODEOWNERS_HOSTS)[number];
/** Where each host looks for the file, in its order. */
export const CODEOWNERS_PLACES: Readonly<Record<CodeownersHost, readonly string[]>> = {
  github: ['.github/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'],
  gitlab: ['CODEOWNERS', 'docs/CODEOWNERS', '.gitlab/CODEOWNERS'],
};

export interface PathPattern {
  /** Whether it begins at the root, with a name: only a path from there can match. */
  isRooted: boolean;
  /** The steps that matching takes at most. */
  cost: number;
  matches(path: PathText): boolean;
}

/** A path as patterns are matched against it: relative to the root, with `/`. */
export class PathText {
  /** Bit i: the character that leads from place i to i + 1. */
  readonly #placesOf = new Map<string, bigint>();
  /** Bit n: the place after the last character. */
  readonly end: bigint;
  readonly slashes: bigint;
  /** Places before any other character than a slash. */
  readonly within: bigint;
  /** Places where the name of a folder or file begins. */
  readonly starts: bigint;

  constructor(readonly path: string) {
    let length = 0n;
    for (const character of path) {
      this.#placesOf.set(character, (this.#placesOf.get(character) ?? 0n) | (1n << length));
      length++;
    }
    this.end = 1n << length;
    this.slashes = this.placesOf('/');
    this.within = (this.end - 1n) & ~this.slashes;
    this.starts = 1n | (this.slashes << 1n);
  }

  placesOf(character: string): bigint {
    return this.#placesOf.get(character) ?? 0n;
  }
}

type Part = { kind: 'literal'; character: string } | { kind: 'one' | 'run' | 'folders' };

/** Where a match has to end: with the path, there or at a folder of it, or anywhere before its end. */
type End = 'whole' | 'whole or folder' | 'inside';

const WILDCARD = /[*?]/;

export function pathPattern(pattern: string, host: CodeownersHost): PathPattern {
  if (pattern === '*' || (pattern === '**' && host === 'github'))
    return { isRooted: false, cost: 1, matches: ({ path }) => path !== '' };
  const { names, end } = host === 'github' ? githubNames(pattern) : gitlabNames(pattern);
  const parts = names.flatMap((name, i) => partsOf(name, i === names.length - 1));
  const needed = longestText(parts);
  return {
    isRooted: names[0] !== undefined && !WILDCARD.test(names[0]),
    cost: parts.length,
    matches: (path) => path.path.includes(needed) && matchesParts(parts, end, path),
  };
}

interface Names {
  /** Names of folders, each a glob, or `**` for any number of them; the last that of the file or folder that is meant. */
  names: string[];
  end: End;
}

function githubNames(pattern: string): Names {
  const names = pattern.split('/');
  if (names[0] === '') names.shift();
  else if (names[0] !== '**' && (names.length === 1 || (names.length === 2 && names[1] === ''))) names.unshift('**');
  const last = names.at(-1);
  if (last === '**' || (last === '' && names.length > 1)) return { names: [...names.slice(0, -1), ''], end: 'inside' };
  return { names, end: last === '*' ? 'whole' : 'whole or folder' };
}

function gitlabNames(pattern: string): Names {
  const names = pattern.split('/');
  if (names[0] === '') names.shift();
  else names.unshift('**');
  if (names.at(-1) === '') names.splice(-1, 1, '**', '*');
  return { names, end: 'whole' };
}

/** Repeated `*`, an escaped character, or one character. */
const TOKENS = /\*+|\\[\s\S]|[\s\S]/gu;

function partsOf(name: string, isLast: boolean): Part[] {
  if (name === '**' && !isLast) return [{ kind: 'folders' }];
  const parts = (name.match(TOKENS) ?? []).map((token): Part => {
    if (token.startsWith('*')) return { kind: 'run' };
    if (token === '?') return { kind: 'one' };
    return { kind: 'literal', character: token.length > 1 && token.startsWith('\\') ? token.slice(1) : token };
  });
  return isLast ? parts : [...parts, { kind: 'literal', character: '/' }];
}

/** A text that every match has: to look for it first spares nearly all patterns the steps. */
function longestText(parts: readonly Part[]): string {
  let [longest, text] = ['', ''];
  for (const part of parts) {
    text = part.kind === 'literal' ? text + part.character : '';
    if (text.length > longest.length) longest = text;
  }
  return longest;
}

/** Follows all ways to match at once: bit i says that the parts so far match the first i characters. */
function matchesParts(parts: readonly Part[], end: End, path: PathText): boolean {
  let reached = 1n;
  for (const part of parts) {
    if (part.kind === 'literal') reached = (reached & path.placesOf(part.character)) << 1n;
    else if (part.kind === 'one') reached = (reached & path.within) << 1n;
    else if (part.kind === 'folders') reached = path.starts & ~((reached & -reached) - 1n);
    // Adding carries each place to the end of its name.
    else reached |= (path.within + (reached & path.within)) ^ path.within;
    if (reached === 0n) return false;
  }
  if (end === 'inside') return (reached & (path.end - 1n)) !== 0n;
  return (reached & (end === 'whole' ? path.end : path.end | path.slashes)) !== 0n;
}
