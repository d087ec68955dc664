/**
 * An answer of the API for a language model: JSON in which everything that was told is marked as data, within a bound of
 * tokens. What does not fit is cut where it says least: long texts first, then lists within, then the end of the list that
 * was asked for. Pure.
 */
import { fence, tokensOf } from './told-text.ts';

/** So many tokens has an answer to an agent at most: several of them have to fit into its context. */
export const ANSWER_TOKENS_MAX = 2_000;

/** Ids, hashes, numbers and moments: they cannot hold a sentence. */
const BARE = /^(?:[0-9a-f]{7,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?|-?\d+)$/;
/** A word of ours, such as `turned_broken`. A test may be called so, hence only under a key whose words are ours. */
const WORD = /^[a-z]+(?:_[a-z]+){0,4}$/;
const KEY = /^[a-z]\w{0,40}$/i;

/** How much is shown, from the most to the least. */
const DETAIL = [
  { codePointsMax: 600, itemsMax: 10 },
  { codePointsMax: 300, itemsMax: 5 },
  { codePointsMax: 160, itemsMax: 3 },
  { codePointsMax: 80, itemsMax: 1 },
] as const;
type Detail = (typeof DETAIL)[number];
const [, , , LEAST] = DETAIL;

export interface ToldKeys {
  /** Keys under which one word is ours: values of enumerations. */
  words: ReadonlySet<string>;
  /** Keys of what only charts and programs use. */
  leftOut: ReadonlySet<string>;
}

export interface ToldAnswer {
  /** The service's own words, shown unmarked: addresses of pages, a cursor, hints. */
  own: Readonly<Record<string, string | number | undefined>>;
  /** What the API answered. */
  told: Readonly<Record<string, unknown>>;
  /** The key of the list in `told` that was asked for. */
  list?: string | undefined;
  keys: ToldKeys;
  tokensMax: number;
}

export interface WrittenAnswer {
  json: string;
  /** Items of the list that were left out at its end. */
  leftOut: number;
}

/** Never longer than `tokensMax`, whatever is told, if `own` leaves room. */
export function writeAnswer({ own, told, list, keys, tokensMax }: ToldAnswer): WrittenAnswer {
  const listed = list === undefined ? undefined : told[list];
  const items = Array.isArray(listed) ? listed : [];
  const rest = Object.fromEntries(Object.entries(told).filter(([key]) => key !== list));
  const write = (detail: Detail, count: number): string => {
    const leftOut = items.length - count;
    const shown = items.slice(0, count).map((item) => marked(item, '', keys, detail));
    return JSON.stringify({
      ...own,
      ...objectOf(rest, keys, detail),
      ...(list !== undefined && { [list]: shown }),
      ...(leftOut > 0 && { [`${list}_left_out`]: leftOut }),
    });
  };
  for (const detail of DETAIL) {
    const json = write(detail, items.length);
    if (tokensOf(json) <= tokensMax) return { json, leftOut: 0 };
  }
  for (let count = items.length - 1; count > 0; count--) {
    const json = write(LEAST, count);
    if (tokensOf(json) <= tokensMax) return { json, leftOut: items.length - count };
  }
  return { json: writeParts(own, objectOf(rest, keys, LEAST), tokensMax), leftOut: items.length };
}

/** The parts of an answer that fit, the shortest first, and which ones do not. */
function writeParts(own: ToldAnswer['own'], parts: Record<string, unknown>, tokensMax: number): string {
  const byLength = Object.entries(parts)
    .map(([key, value]) => ({ key, tokens: tokensOf(JSON.stringify({ [key]: value })) }))
    .sort((a, b) => b.tokens - a.tokens);
  const leftOut: string[] = [];
  for (const { key } of byLength) {
    leftOut.push(key);
    const kept = Object.fromEntries(Object.entries(parts).filter(([name]) => !leftOut.includes(name)));
    const json = JSON.stringify({ ...own, ...kept, left_out: leftOut });
    if (tokensOf(json) <= tokensMax) return json;
  }
  return JSON.stringify({ ...own, left_out: 'everything' });
}

/** A value with its texts marked; undefined for what says nothing. */
function marked(value: unknown, key: string, keys: ToldKeys, detail: Detail, depth = 0): unknown {
  if (value === null || value === undefined || value === '') return undefined;
  if (typeof value === 'number') return Number(value.toFixed(3));
  if (typeof value === 'string') {
    const isOurs = BARE.test(value) || (keys.words.has(key) && WORD.test(value));
    return isOurs ? value : fence(value, detail.codePointsMax);
  }
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => marked(item, key, keys, detail, depth));
  return objectOf(value, keys, detail, depth);
}

function objectOf(value: object, keys: ToldKeys, detail: Detail, depth = 0): Record<string, unknown> {
  // A list within a list is shorter, or entries of entries would take all the room.
  const itemsMax = Math.max(1, detail.itemsMax >> depth);
  const entries = Object.entries(value).flatMap(([key, of]): [string, unknown][] => {
    if (keys.leftOut.has(key)) return [];
    const name = KEY.test(key) ? key : fence(key, 40);
    if (!Array.isArray(of)) return [[name, marked(of, key, keys, detail, depth)]];
    if (of.length === 0) return [];
    const shown = marked(of.slice(0, itemsMax), key, keys, detail, depth + 1);
    const leftOut = of.length - itemsMax;
    return leftOut > 0
      ? [
          [name, shown],
          [`${name}_left_out`, leftOut],
        ]
      : [[name, shown]];
  });
  return Object.fromEntries(entries);
}
