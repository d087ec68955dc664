/**
 * Globs over test names: `*` matches any run of characters, newlines included, and `?` one code point; `\` escapes `*`,
 * `?` and `\`, and is literal elsewhere. A glob matches the whole name, case-sensitively. A value that equals the whole
 * name always matches: the caller adds that.
 */

/** Whether a value contains a wildcard or an escape, so that it may match other names than itself. */
export const isGlob = (value: string): boolean => /[*?]|\\[*?\\]/.test(value);

type Part = { kind: 'run' } | { kind: 'one' } | { kind: 'literal'; text: string };

/** Any number of `*`, a `?`, an escape, or a text in between. */
const TOKENS = /\*+|\?|\\[*?\\]|[^*?\\]+|\\/g;

/** The parts of a glob in order. Repeated `*` are one. */
const parts = (glob: string): Part[] =>
  (glob.match(TOKENS) ?? []).map((token) => {
    if (token.startsWith('*')) return { kind: 'run' };
    if (token === '?') return { kind: 'one' };
    const isEscape = token.length > 1 && token.startsWith('\\');
    return { kind: 'literal', text: isEscape ? token.slice(1) : token };
  });

/**
 * The cost of matching a name against these values. Each `*` costs 1. A value with `?` costs as much as it is long,
 * once for each `*` in it, but at least once, because a regular expression follows all ways to match it. Counts no
 * further than the value that exceeds `max`.
 */
export function costOf(values: readonly string[], max: number): number {
  let cost = 0;
  for (const value of values) {
    if (!isGlob(value)) continue;
    const kinds = parts(value).map(({ kind }) => kind);
    const runs = kinds.filter((kind) => kind === 'run').length;
    cost += kinds.includes('one') ? value.length * Math.max(1, runs) : runs;
    if (cost > max) break;
  }
  return cost;
}

/** The same as a pattern for SQL's LIKE, with `\` as its escape. */
export const globToLike = (glob: string): string =>
  parts(glob)
    .map((part) => {
      if (part.kind === 'literal') return part.text.replace(/[%_\\]/g, '\\$&');
      return part.kind === 'run' ? '%' : '_';
    })
    .join('');

/**
 * Whether names match a glob. Follows at most as many steps as the name and the glob are long, multiplied: the longest
 * beginning of a glob that a `*` follows is never tried again.
 */
export function globMatcher(glob: string): (name: string) => boolean {
  const steps = parts(glob).flatMap((part): (string | null | undefined)[] => {
    if (part.kind === 'run') return [null];
    return part.kind === 'one' ? [undefined] : [...part.text];
  });
  if (!steps.some((step) => step === null || step === undefined))
    return (name) => name === glob || name === steps.join('');
  return (text) => {
    if (text === glob) return true;
    const name = [...text];
    let [i, j, runAt, resumeAt] = [0, 0, -1, 0];
    while (i < name.length)
      if (j < steps.length && steps[j] === null) [runAt, resumeAt, j] = [j, i, j + 1];
      else if (j < steps.length && (steps[j] === undefined || steps[j] === name[i])) [i, j] = [i + 1, j + 1];
      else if (runAt >= 0) [i, j, resumeAt] = [resumeAt + 1, runAt + 1, resumeAt + 1];
      else return false;
    return steps.slice(j).every((step) => step === null);
  };
}
