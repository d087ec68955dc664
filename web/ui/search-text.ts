/** From what people type to the patterns of the search. */

/**
 * Text without wildcards is looked for anywhere in a name. With `*` or `?` it is a pattern for the whole name, as in the
 * API; `\` escapes them.
 */
export function patternOf(text: string): string {
  const sought = text.trim();
  if (sought === '') return '*';
  const isPattern = /(?<!\\)(?:\\\\)*[*?]/.test(sought);
  return isPattern ? sought : `*${sought.replaceAll('\\', '\\\\')}*`;
}
