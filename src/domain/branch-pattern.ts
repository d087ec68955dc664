/**
 * Branch patterns: `*` matches any run of characters except `/`, `?` any one character except `/`, and `**` any run,
 * `/` included. A pattern matches the whole name, case-sensitively. There is no escape: Git allows neither `*` nor `?`
 * in a branch name.
 */

/**
 * Whether a pattern, or a plain branch name, matches this branch. Takes time proportional to the product of both
 * lengths at most.
 */
export function matchesBranch(pattern: string, branch: string): boolean {
  if (pattern === branch) return true;
  const parts = partsOf(pattern);
  const characters = [...branch];
  // reached[i]: the parts so far match the first i characters.
  let reached = new Array<boolean>(characters.length + 1).fill(false);
  reached[0] = true;
  for (const part of parts) reached = after(part, reached, characters);
  return reached[characters.length] === true;
}

/** A regular expression, in the words that JavaScript and RE2 share, which matches the branches that the pattern matches. */
export function branchExpression(pattern: string): string {
  const expressions = partsOf(pattern).map((part) => {
    if (part.kind === 'literal') return part.character.replace(/[\\^$.*+?()[\]{}|]/, '\\$&');
    return part.kind === 'one' ? '[^/]' : part.crossesSlash ? '[\\s\\S]*' : '[^/]*';
  });
  return `^${expressions.join('')}$`;
}

type Part = { kind: 'run'; crossesSlash: boolean } | { kind: 'one' } | { kind: 'literal'; character: string };

function partsOf(pattern: string): Part[] {
  return [...pattern.matchAll(/\*+|[\s\S]/gu)].map(([text]) => {
    if (text.startsWith('*')) return { kind: 'run', crossesSlash: text.length > 1 };
    return text === '?' ? { kind: 'one' } : { kind: 'literal', character: text };
  });
}

function after(part: Part, reached: readonly boolean[], characters: readonly string[]): boolean[] {
  const next = new Array<boolean>(reached.length).fill(false);
  if (part.kind === 'run') next[0] = reached[0] === true;
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i];
    if (part.kind === 'literal') next[i + 1] = reached[i] === true && character === part.character;
    else if (part.kind === 'one') next[i + 1] = reached[i] === true && character !== '/';
    else next[i + 1] = reached[i + 1] === true || (next[i] === true && (part.crossesSlash || character !== '/'));
  }
  return next;
}
