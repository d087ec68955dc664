/** The rule of globs as a simple matcher, to compare with ClickHouse, and characters to try. */
import fc from 'fast-check';

/** Whether a name matches, by trying every way to read each `*`; on code points. */
export function matchesGlob(glob: readonly string[], name: readonly string[]): boolean {
  const [first, second] = glob;
  if (first === undefined) return name.length === 0;
  if (first === '*') return matchesGlob(glob.slice(1), name) || (name.length > 0 && matchesGlob(glob, name.slice(1)));
  if (name.length === 0) return false;
  if (first === '?') return matchesGlob(glob.slice(1), name.slice(1));
  const isEscape = first === '\\' && second !== undefined && '*?\\'.includes(second);
  if (isEscape) return second === name[0] && matchesGlob(glob.slice(2), name.slice(1));
  return first === name[0] && matchesGlob(glob.slice(1), name.slice(1));
}

/** Wildcards, escapes of globs, LIKE and regular expressions, and characters of more than one code unit or point. */
export const globCharacter = fc.constantFrom(
  ...['a', 'A', '*', '?', '\\', '%', '_', '\n', '[', '.', '^', '$', 'é', '😀', '\u0301'],
);
