/** Cuts the name of a test into its parts: where it stands, what it is called, and which row of data it runs on. Pure. */
import { namesAround } from './split-names.ts';

export interface TestNameParts {
  /** The innermost class, suite or file around it; empty if the name has none. */
  place: string;
  /** Its own name, without the row. */
  own: string;
  /** The row of a parametrised test with its bracket, such as `[a-1]`; empty if it has none. */
  row: string;
}

const ROW = /(?<=[\w\]])[[({].*$/su;
const SEPARATOR = /^(?: › | > | - |::|[./#])/u;

export function partsOfName(name: string): TestNameParts {
  const [place = ''] = namesAround(name);
  const rest = place === '' ? name : name.slice(place.length).replace(SEPARATOR, '');
  const row = ROW.exec(rest)?.[0] ?? '';
  return { place, own: rest.slice(0, rest.length - row.length), row };
}

/** The names in a place: `com.acme.CartTest` → `com`, `acme`, `CartTest`. */
const namesIn = (place: string): string[] => place.split(/ › | > | - |::|[./#\\]/u).filter((part) => part !== '');

/** How many names two places have in common at their ends. */
export function sharedTail(one: string, other: string): number {
  const [names, others] = [namesIn(one).reverse(), namesIn(other).reverse()];
  const differs = names.findIndex((name, i) => name !== others[i]);
  return differs < 0 ? names.length : differs;
}

/** The words of a name in lower case: `rejectsAnExpired_card` → `rejects`, `an`, `expired`, `card`. */
const wordsOf = (name: string): string[] =>
  (name.match(/\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+|\p{Lo}+/gu) ?? []).map((word) => word.toLowerCase());

/** Dice's coefficient of two bags of words, from 0 for nothing in common to 1 for the same words. */
export function likenessOf(one: string, other: string): number {
  const words = wordsOf(one);
  const left = wordsOf(other);
  const total = words.length + left.length;
  if (total === 0) return one === other ? 1 : 0;
  let shared = 0;
  for (const word of words) {
    const found = left.indexOf(word);
    if (found < 0) continue;
    left.splice(found, 1);
    shared++;
  }
  return (2 * shared) / total;
}
