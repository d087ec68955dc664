/**
 * Branch patterns: `*` matches any run of characters except `/`, `?` any one character except `/`, and `**` any run,
 * `/` included. A pattern matches the whole name, case-sensitively. There is no escape: Git allows neither `*` nor `?`
 * in a branch name.
 */

/** Whether a pattern, or a plain branch name, matches this branch. */
export const matchesBranch = (pattern: string, branch: string): boolean =>
  pattern === branch || (isBranchPattern(pattern) && compiled(pattern).matches(branch));

/** Whether it may match other branches than the one of this name. */
const isBranchPattern = (text: string): boolean => /[*?]/.test(text);

/**
 * The cost of matching a branch against these patterns, each counted once: its characters from the first wildcard to the
 * last. `release/*` costs 1, a plain name nothing.
 */
export const branchCostOf = (patterns: Iterable<string>): number => {
  let cost = 0;
  for (const pattern of new Set(patterns)) if (isBranchPattern(pattern)) cost += compiled(pattern).cost;
  return cost;
};

/** Asks of many patterns whether they match one branch; equal patterns are matched once. */
export function branchMatcher(branch: string): (pattern: string) => boolean {
  const known = new Map<string, boolean>();
  return (pattern) => {
    const found = known.get(pattern) ?? matchesBranch(pattern, branch);
    known.set(pattern, found);
    return found;
  };
}

/** A regular expression, in the words that JavaScript and RE2 share, which matches the branches that the pattern matches. */
export function branchExpression(pattern: string): string {
  const expressions = partsOf(pattern).map((part) => {
    if (part.kind === 'literal') return part.character.replace(/[\\^$.*+?()[\]{}|]/, '\\$&');
    return part.kind === 'one' ? '[^/]' : part.crossesSlash ? '[\\s\\S]*' : '[^/]*';
  });
  return `^${expressions.join('')}$`;
}

type Part = { kind: 'run'; crossesSlash: boolean } | { kind: 'one' } | { kind: 'literal'; character: string };

function partsOf(pattern: string): Part[] {
  return [...pattern.matchAll(/\*+|[\s\S]/gu)].map(([text]) => {
    if (text.startsWith('*')) return { kind: 'run', crossesSlash: text.length > 1 };
    return text === '?' ? { kind: 'one' } : { kind: 'literal', character: text };
  });
}

interface CompiledPattern {
  cost: number;
  matches(branch: string): boolean;
}

/** The patterns of some repositories at a time; each has 255 characters at most. Beyond it, all are compiled again. */
const COMPILED_MAX = 5_000;
const COMPILED = new Map<string, CompiledPattern>();

function compiled(pattern: string): CompiledPattern {
  const known = COMPILED.get(pattern);
  if (known) return known;
  const made = compile(pattern);
  if (COMPILED.size >= COMPILED_MAX) COMPILED.clear();
  COMPILED.set(pattern, made);
  return made;
}

/** The literal beginning and end are compared as texts; only what lies between takes a step for each part. */
function compile(pattern: string): CompiledPattern {
  const parts = partsOf(pattern);
  const first = parts.findIndex(({ kind }) => kind !== 'literal');
  const last = parts.findLastIndex(({ kind }) => kind !== 'literal');
  const middle = parts.slice(first, last + 1);
  const textOf = (some: readonly Part[]): string =>
    some.map((part) => (part.kind === 'literal' ? part.character : '')).join('');
  const [start, end] = [textOf(parts.slice(0, first)), textOf(parts.slice(last + 1))];
  return {
    cost: middle.length,
    matches: (branch) =>
      branch.length >= start.length + end.length &&
      branch.startsWith(start) &&
      branch.endsWith(end) &&
      matchesWhole(middle, [...branch.slice(start.length, branch.length - end.length)]),
  };
}

/**
 * Follows all ways to match at once: bit i says that the parts so far match the first i characters. A step takes a few
 * operations on a number with as many bits as the branch has characters.
 */
function matchesWhole(parts: readonly Part[], characters: readonly string[]): boolean {
  const ends = (1n << BigInt(characters.length + 1)) - 1n;
  // Bit i: the character that leads from i to i + 1.
  const placesOf = new Map<string, bigint>();
  for (const [i, character] of characters.entries())
    placesOf.set(character, (placesOf.get(character) ?? 0n) | (1n << BigInt(i)));
  const slashes = placesOf.get('/') ?? 0n;
  const within = (ends >> 1n) & ~slashes;
  let reached = 1n;
  for (const part of parts) {
    if (part.kind === 'literal') reached = (reached & (placesOf.get(part.character) ?? 0n)) << 1n;
    else if (part.kind === 'one') reached = (reached & within) << 1n;
    else if (part.crossesSlash) reached = ends & ~((reached & -reached) - 1n);
    // Adding carries each bit to the end of its run of places that a run may cross.
    else reached |= (within + (reached & within)) ^ within;
    if (reached === 0n) return false;
  }
  return reached >> BigInt(characters.length) === 1n;
}
