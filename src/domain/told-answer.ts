/**
 * An answer of the API for a language model: JSON in which everything that was told is marked as data, within a bound of
 * tokens. What does not fit is cut where it says least: long texts first, then lists within, then the end of the list that
 * was asked for. Pure.
 */
import { fence, tokensOf } from './told-text.ts';

/** Answers have so many tokens unless the caller asks for fewer. */
const ANSWER_TOKENS_MAX = 2_000;

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

export interface ToldKeys {
  /** Keys under which one word is ours: values of enumerations. */
  words: ReadonlySet<string>;
  /** Keys of what only charts and programs use. */
  leftOut: ReadonlySet<string>;
}

export interface ToldAnswer {
  /** Of the service itself, shown as it is: addresses of pages, a cursor, hints. */
  own: Readonly<Record<string, string | number | undefined>>;
  /** What the API answered. */
  told: Readonly<Record<string, unknown>>;
  /** The key of the list in `told` that was asked for. */
  list?: string | undefined;
  keys: ToldKeys;
  tokensMax?: number | undefined;
}

export interface WrittenAnswer {
  json: string;
  /** Items of the list that were left out at its end. */
  leftOut: number;
}

/** Never longer than `tokensMax`, whatever is told, if `own` leaves room. */
export function writeAnswer({ own, told, list, keys, tokensMax = ANSWER_TOKENS_MAX }: ToldAnswer): WrittenAnswer {
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
  const [, , , least] = DETAIL;
  for (let count = items.length - 1; count >= 0; count--) {
    const json = write(least, count);
    if (tokensOf(json) <= tokensMax) return { json, leftOut: items.length - count };
  }
  return { json: JSON.stringify({ ...own, left_out: 'everything' }), leftOut: items.length };
}

/** A value with its texts marked; undefined for what says nothing. */
function marked(value: unknown, key: string, keys: ToldKeys, detail: Detail): unknown {
  if (value === null || value === undefined || value === '') return undefined;
  if (typeof value === 'number') return Number(value.toFixed(3));
  if (typeof value === 'string') {
    const isOurs = BARE.test(value) || (keys.words.has(key) && WORD.test(value));
    return isOurs ? value : fence(value, detail.codePointsMax);
  }
  if (typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((item) => marked(item, key, keys, detail));
  return objectOf(value, keys, detail);
}

function objectOf(value: object, keys: ToldKeys, detail: Detail): Record<string, unknown> {
  const entries = Object.entries(value).flatMap(([key, of]): [string, unknown][] => {
    if (keys.leftOut.has(key)) return [];
    const name = KEY.test(key) ? key : fence(key, 40);
    if (!Array.isArray(of)) return [[name, marked(of, key, keys, detail)]];
    if (of.length === 0) return [];
    const shown = marked(of.slice(0, detail.itemsMax), key, keys, detail);
    const leftOut = of.length - detail.itemsMax;
    return leftOut > 0
      ? [
          [name, shown],
          [`${name}_left_out`, leftOut],
        ]
      : [[name, shown]];
  });
  return Object.fromEntries(entries);
}
