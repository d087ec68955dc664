/** Which tests an excerpt of a log names. Pure. */

/** A shorter last part, such as `it`, is in any log. */
const PART_LENGTH_MIN = 5;
const BETWEEN_PARTS = /\s>\s|::|#|\/|\.(?=[\p{L}_])/u;

/**
 * The names that the text has as a whole, or by their last part as a word: runners print `FAILED test_cart.py::test_total` for
 * the test `tests.test_cart.test_total`.
 */
export function namedInLog(log: string, names: readonly string[]): Set<string> {
  return new Set(names.filter((name) => hasWord(log, name) || hasPart(log, name)));
}

function hasPart(log: string, name: string): boolean {
  const part = name.split(BETWEEN_PARTS).at(-1)?.trim() ?? '';
  return part.length >= PART_LENGTH_MIN && hasWord(log, part);
}

function hasWord(log: string, word: string): boolean {
  for (let at = log.indexOf(word); at >= 0; at = log.indexOf(word, at + 1))
    if (!isWordAt(log, at - 1) && !isWordAt(log, at + word.length)) return true;
  return false;
}

const isWordAt = (text: string, index: number): boolean => /[\p{L}\p{N}_]/u.test(text.charAt(index));
