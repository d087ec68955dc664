/** What people type to find a message: words, and phrases in quotes; and what to type to find messages like another. */
import { tellingWords } from './cause-words.ts';
import { normaliseMessage } from './fingerprint.ts';

export interface MessageSearch {
  /** With spaces between them; may be empty. */
  words: string;
  phrases: string[];
}

/** The characters that a search may have. */
export const MESSAGE_SEARCH_LENGTH_MAX = 200;
/** So many phrases are searched for; further ones are words. */
const PHRASES_MAX = 5;
const MESSAGE_LENGTH_USED = 1_000;

/**
 * Splits what was typed. A quote without its end begins no phrase.
 *
 * @example parseMessageSearch('refused "port closed"') // { words: 'refused', phrases: ['port closed'] }
 */
export function parseMessageSearch(typed: string): MessageSearch {
  const phrases: string[] = [];
  const words = typed.replace(/"([^"]*)"/g, (whole, phrase: string) => {
    if (!/[\p{L}\p{N}]/u.test(phrase) || phrases.length === PHRASES_MAX) return whole;
    phrases.push(phrase);
    return ' ';
  });
  return { words: words.replaceAll('"', ' ').trim(), phrases };
}

/**
 * The first words of a message that say something and do not differ from run to run, to search for messages like it. Empty
 * if it has none.
 *
 * @example searchForLike('connect ECONNREFUSED 127.0.0.1:5432', 5) // 'connect econnrefused'
 */
export function searchForLike(message: string, wordsMax: number): string {
  // Only its beginning says what is wrong, and normalising takes time.
  const words = tellingWords('', normaliseMessage(message.slice(0, MESSAGE_LENGTH_USED)));
  let search = '';
  for (const word of [...words].slice(0, wordsMax)) {
    const longer = search === '' ? word : `${search} ${word}`;
    if (longer.length > MESSAGE_SEARCH_LENGTH_MAX) break;
    search = longer;
  }
  return search;
}
