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

/** How a set of globs is matched in SQL. A name matches if any part of the plan matches it. */
export interface GlobPlan {
  /** One of the globs matches every name. */
  isAll: boolean;
  /** Values whose only special characters are escapes: the names they stand for. */
  names: string[];
  /** A glob without `?`, short enough for LIKE, which is the fastest way to match one; undefined if there is none. */
  like: string | undefined;
  /** The other globs without `?`: what names begin and end with, and what they contain in between, in that order. */
  prefixes: string[];
  suffixes: string[];
  /** The contained texts of all these globs one after another; `firsts` counts from 1, as arrays in SQL do. */
  inner: string[];
  firsts: number[];
  sizes: number[];
  /** A regular expression (RE2) for all globs with `?`; undefined if there is none. */
  expression: string | undefined;
}

/**
 * LIKE and RE2 compile `*a*a…` in quadratic time, and an array of patterns is compiled again for each name: 250 globs
 * of 1,500 `*` took 9 s on 24 names, and 255 ordinary ones 69 s on 20,000. Looking for the texts between the `*` one
 * after another takes 3 s at most, and 0.2 s for those on 24 names. It cannot express `?`.
 */
const LIKE_RUNS_MAX = 4;
const LIKE_LENGTH_MAX = 1_000;

export function planOf(values: readonly string[]): GlobPlan {
  const plan: GlobPlan = {
    isAll: false,
    names: [],
    like: undefined,
    prefixes: [],
    suffixes: [],
    inner: [],
    firsts: [],
    sizes: [],
    expression: undefined,
  };
  const expressions: string[] = [];
  for (const value of values.filter(isGlob)) {
    const { texts, hasOne } = textsOf(value);
    if (hasOne) expressions.push(expressionOf(value));
    else if (texts.length === 1) plan.names.push(texts[0] ?? '');
    else if (texts.every((text) => text === '')) plan.isAll = true;
    else if (plan.like === undefined && texts.length <= LIKE_RUNS_MAX + 1 && value.length <= LIKE_LENGTH_MAX)
      plan.like = globToLike(value);
    else addTexts(plan, texts);
  }
  if (expressions.length > 0) plan.expression = `(?s)\\A(?:${expressions.join('|')})\\z`;
  return plan;
}

function addTexts(plan: GlobPlan, texts: readonly string[]): void {
  const inner = texts.slice(1, -1).filter((text) => text !== '');
  plan.prefixes.push(texts[0] ?? '');
  plan.suffixes.push(texts.at(-1) ?? '');
  plan.firsts.push(plan.inner.length + 1);
  plan.sizes.push(inner.length);
  plan.inner.push(...inner);
}

/** The literal texts around and between the `*` of a glob, and whether it has a `?`. */
function textsOf(glob: string): { texts: string[]; hasOne: boolean } {
  const texts = [''];
  let hasOne = false;
  for (const part of parts(glob)) {
    if (part.kind === 'run') texts.push('');
    else if (part.kind === 'one') hasOne = true;
    else texts.push(texts.pop() + part.text);
  }
  return { texts, hasOne };
}

const expressionOf = (glob: string): string =>
  parts(glob)
    .map((part) => {
      if (part.kind === 'literal') return part.text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
      return part.kind === 'run' ? '.*' : '.';
    })
    .join('');

/**
 * What it costs to match a name against these values. Each `*` costs 1. A value with `?` costs as much as it is long,
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
const globToLike = (glob: string): string =>
  parts(glob)
    .map((part) => {
      if (part.kind === 'literal') return part.text.replace(/[%_\\]/g, '\\$&');
      return part.kind === 'run' ? '%' : '_';
    })
    .join('');
