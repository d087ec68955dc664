/**
 * Globs over test names: `*` matches any run of characters, newlines included, and `?` one code point; `\` escapes `*`,
 * `?` and `\`, and is literal elsewhere. A glob matches the whole name, case-sensitively. A value that equals the whole
 * name always matches: the caller adds that.
 */

/** Whether a value contains a wildcard or an escape, so that it may match other names than itself. */
export const isGlob = (value: string): boolean => /[*?]|\\[*?\\]/.test(value);

type Part = { kind: 'run' } | { kind: 'one' } | { kind: 'literal'; text: string };

function* parts(glob: string): Generator<Part> {
  for (let i = 0; i < glob.length; i++) {
    const character = glob[i] as string;
    const next = glob[i + 1];
    if (character === '*') yield { kind: 'run' };
    else if (character === '?') yield { kind: 'one' };
    else if (character === '\\' && next !== undefined && '*?\\'.includes(next)) {
      yield { kind: 'literal', text: next };
      i++;
    } else yield { kind: 'literal', text: character };
  }
}

/** The same as a pattern for SQL's LIKE, with `\` as its escape. Repeated `*` become one. */
export function globToLike(glob: string): string {
  let like = '';
  let wasRun = false;
  for (const part of parts(glob)) {
    if (part.kind === 'run') like += wasRun ? '' : '%';
    else if (part.kind === 'one') like += '_';
    else like += '%_\\'.includes(part.text) ? `\\${part.text}` : part.text;
    wasRun = part.kind === 'run';
  }
  return like;
}
