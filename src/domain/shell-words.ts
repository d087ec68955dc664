/** A command line for POSIX shells, from the arguments that the program is to get. Pure. */

/** No shell reads anything else into them. A word that begins with a tilde or holds a glob is quoted. */
const PLAIN = /^[A-Za-z0-9_@%+=:,./-]+$/;

/** Characters that a terminal may obey when the command is pasted: control characters, and marks of direction. */
const OBEYED = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Null if an argument cannot be pasted safely. The first word is the program's name, and no assignment. */
export function shellCommand(words: readonly string[]): string | null {
  return words.some((word) => OBEYED.test(word)) ? null : words.map(quoted).join(' ');
}

/** Within apostrophes, a shell takes everything as it is but an apostrophe. */
const quoted = (word: string): string => (PLAIN.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
