/** Names of classes as TRX has them. */

const CLOSING: Readonly<Record<string, string>> = { '(': ')', '[': ']', '<': '>' };

/**
 * `Shop.CartTests, Shop.Tests, Version=1.0.0.0` → `Shop.CartTests`. The arguments of a fixture and of a type contain
 * commas, too: `Shop.CartTests("EUR",2)`, ``Shop.Box`2[[System.Int32, mscorlib],[System.String, mscorlib]]``.
 */
export function withoutAssembly(className: string): string {
  const expected: string[] = [];
  for (let at = 0; at < className.length; at++) {
    const character = className[at] ?? '';
    if (character === ',' && expected.length === 0) return className.slice(0, at).trim();
    if (character === expected.at(-1)) expected.pop();
    else if (character === '"' || character === "'") at = endOfQuoted(className, at);
    else {
      const closing = CLOSING[character];
      if (closing !== undefined) expected.push(closing);
    }
  }
  return className.trim();
}

/** Where the text in quotes ends; where it begins, if it does not end. */
function endOfQuoted(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === text[start]) return at;
  }
  return start;
}
