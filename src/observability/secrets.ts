/** Removes secrets from text, by value and by pattern: the log's last line of defence. */

const HIDDEN = '[secret]';
/** A shorter value is likely to appear in a line for another reason. */
const LENGTH_MIN = 8;

/**
 * Secrets with a known form: application keys, tokens of the repository host, identity tokens, headers, user and password in
 * a URL.
 */
const PATTERNS: readonly [RegExp, string][] = [
  [/\bci[isp]_[\w-]{8,}/g, HIDDEN],
  [/\b(?:gh[a-z]_|github_pat_)\w{8,}/g, HIDDEN],
  // Not inside a word: each beginning would be looked at to the end of the word.
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, HIDDEN],
  [/\b(bearer|basic) +[\w.~+/=-]{8,}/gi, `$1 ${HIDDEN}`],
  [/((?<![a-z0-9+.-])[a-z][a-z0-9+.-]*:\/\/)[^\s/@"\\]+@/gi, `$1${HIDDEN}@`],
];

/** A function that hides these values, plain or URL-encoded, and everything with the form of a secret. */
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
