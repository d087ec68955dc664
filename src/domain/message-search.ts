/** What people type to find a message: words, and phrases in quotes. */

export interface MessageSearch {
  /** With spaces between them; may be empty. */
  words: string;
  phrases: string[];
}

/** The characters that a search may have. */
export const MESSAGE_SEARCH_LENGTH_MAX = 200;
/** So many phrases are searched for; further ones are words. */
const PHRASES_MAX = 5;

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
