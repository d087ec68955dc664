/** Takes secrets out of text, by their value and by their look: the last line of defence of the log. */

const HIDDEN = '[secret]';
/** Below this length a value is a word that lines may well hold for another reason. */
const LENGTH_MIN = 8;

/** What is told by its look: our keys, tokens of the repository host, headers, the user and password of an address. */
const PATTERNS: readonly [RegExp, string][] = [
  [/\bcii_[\w-]{8,}/g, HIDDEN],
  [/\b(?:gh[a-z]_|github_pat_)\w{8,}/g, HIDDEN],
  [/\b(bearer|basic) +[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@"\\]+@/gi, `$1${HIDDEN}@`],
];

/** A function that hides these values, plain or as they stand in an address, and whatever looks like a secret. */
export function withoutSecrets(values: readonly string[]): (text: string) => string {
  const known = [
    ...new Set(values.flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)])),
  ]
    .filter((value) => value.length >= LENGTH_MIN)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    const hidden = known.reduce((rest, value) => rest.replaceAll(value, HIDDEN), text);
    return PATTERNS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), hidden);
  };
}
