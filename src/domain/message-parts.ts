/**
 * The parts of a failure's message that differ from run to run, as patterns: moments, addresses, and names that a
 * program makes up. Every pattern is linear in the length of the message: tests/unit/patterns.test.ts
 * feeds each one texts built to hurt.
 */

export type PartName = 'token' | 'uuid' | 'email' | 'time' | 'address' | 'hex' | 'worker' | 'random' | 'path' | 'n';

const MONTH = '(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}';

/** Replaced in this order. */
export const PARTS: readonly { name: PartName; pattern: RegExp }[] = [
  // Begins where a run of its characters does: with `\b`, every `-eyJ` in a run would look at all of it.
  { name: 'token', pattern: /(?<![\w-])eyJ[\w-]{10,}(?:\.[\w-]+){1,2}/g },
  { name: 'token', pattern: /\b[0-7][0-9A-HJKMNP-TV-Z]{25}\b/g },
  { name: 'uuid', pattern: /(?<![0-9a-z])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-z])/gi },
  { name: 'email', pattern: /(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+/g },
  {
    name: 'time',
    pattern:
      /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?(?![\w-])/g,
  },
  {
    name: 'time',
    pattern: new RegExp(
      `\\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? )?(?:${MONTH} \\d{1,2},?|\\d{1,2} ${MONTH})(?: \\d{4})?(?: \\d{2}:\\d{2}:\\d{2})?(?: (?:GMT|UTC|[+-]\\d{4}))?(?: \\d{4})?\\b`,
      'g',
    ),
  },
  { name: 'time', pattern: /\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?\b/g },
  { name: 'address', pattern: /\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b/g },
  { name: 'address', pattern: /\[(?=[0-9a-f]{0,4}:[0-9a-f]{0,4}:)[0-9a-f:]{2,39}\](?::\d{1,5})?/gi },
  // Bare IPv6, as Node prints it with its port.
  { name: 'address', pattern: /(?<![\w:])::1:\d{1,5}\b/g },
  // A pod of Kubernetes: its template's hash, and five characters without vowels.
  { name: 'random', pattern: /(?<=[a-z0-9]-)[a-f0-9]{8,10}-[bcdfghjklmnpqrstvwxz2456789]{5}(?![\w-])/g },
  // java.lang.Object.toString: the identity hash.
  { name: 'hex', pattern: /(?<=\w)@[0-9a-f]{5,16}\b/g },
  { name: 'hex', pattern: /(?<![0-9a-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}(?![0-9a-z])/gi },
  // Workers of pytest-xdist, and threads that asyncio names.
  { name: 'worker', pattern: /\b(?:gw|asyncio_)\d{1,4}\b/g },
  // Python's mkdtemp and mkstemp. One in twelve has no digit and stays, because people write names like `tmp_exports`.
  { name: 'random', pattern: /(?<![0-9A-Za-z])tmp(?=[a-z_]{0,7}\d)[a-z0-9_]{8}(?![0-9A-Za-z_])/g },
];

/** Words that may be made up: as long as generators make them, with digits. {@link isRandomWord} decides. */
export const WORD = /(?<![0-9A-Za-z])(?=[A-Za-z]*\d)[0-9A-Za-z]{8,64}(?![0-9A-Za-z])/g;

/** How often letters and digits alternate at least in a word that is made up, and its longest run of letters. */
const ALTERNATIONS_MIN = 3;
const LETTERS_IN_A_ROW_MAX = 4;

/**
 * Whether a word of letters and digits looks made up: `7lpw2fdm`, but not `v1alpha2`, `base64url`, `sha256sum` or
 * `20260101T`. Generated names alternate between the two; people put a number at the end of a word, or between two.
 */
export function isRandomWord(word: string): boolean {
  const runs = word.match(/\d+|\D+/g) ?? [];
  const letters = Math.max(...runs.map((run) => (/\d/.test(run) ? 0 : run.length)));
  return runs.length > ALTERNATIONS_MIN && letters <= LETTERS_IN_A_ROW_MAX * (word.length >= 16 ? 2 : 1);
}

/** A number in hexadecimal: an address, unless a word before it says that it is a code. */
export const POINTER = /\b0x[0-9a-f]+\b/gi;

/** A temporary folder and what is below it, also as a string literal prints it, with doubled backslashes. */
export const TEMPORARY =
  /(?<![\w.])(?:\/(?:private\/)?(?:tmp|temp|var\/tmp|var\/folders)|[A-Za-z]:[\\/]{1,4}(?:Temp|Windows[\\/]{1,4}Temp|Users[\\/]{1,4}[^\\/\s'"]{1,60}[\\/]{1,4}AppData[\\/]{1,4}Local[\\/]{1,4}Temp))(?:[\\/][^\s'"`,;:()[\]<>]*)?/gi;
/** A file name chosen by a person, below a randomly named folder. */
export const CHOSEN_NAME = /[\\/](?!tmp)([A-Za-z][A-Za-z_-]{0,100}(?:\.[A-Za-z]{1,10}){1,3})$/;

/**
 * A file of the interpreter or of an installed package, and one of the checkout of a hosted runner. Runners differ in
 * the folders before it and in the separator, not in what fails.
 */
export const INSTALLED =
  /(?<![\w.\\/])(?:[A-Za-z]:[\\/]{1,4}|\/)(?:[\w.@+-]{1,64}[\\/]{1,4}){0,12}?(?:lib[\\/]{1,4}python\d\.\d{1,2}|envs[\\/]{1,4}[\w.-]{1,64}[\\/]{1,4}lib(?:[\\/]{1,4}python\d\.\d{1,2})?|node_modules)[\\/]{1,4}(?:site-packages[\\/]{1,4})?(?<rest>[\w.@+\\/-]{0,500})/gi;
export const CHECKED_OUT =
  /(?<![\w.\\/])(?:\/(?:home|Users)\/runner\/work|[A-Za-z]:[\\/]{1,4}a)[\\/]{1,4}([\w.-]{1,100})[\\/]{1,4}\1[\\/]{1,4}(?<rest>[\w.@+\\/-]{0,500})/gi;

export const NUMBER = /[+-]?(?<![\w.]|HTTP\/)\d+(?:[.,_]\d+)*(?:e[+-]?\d+)?(?=$|[^\w]|[a-zµ%]{1,3}\b)/gi;
