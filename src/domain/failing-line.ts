/** Where in the file of a test a stack points to. */

/** Longer stacks say it near their beginning, too. */
const STACK_LENGTH_MAX = 20_000;
const LINE_MAX = 10_000_000;

/**
 * The first line of a test's own file that a stack names, from 1, or null. A frame names it by its path or the end of it:
 * `cart.test.ts:12:5`, `File "/app/test_cart.py", line 12`, `CartTest.java:12`, `cart.rb:12:in 'sums'`.
 */
export function failingLine(stack: string | null, filepath: string | null): number | null {
  const name = filepath?.split(/[/\\]/).at(-1);
  if (!stack || !name) return null;
  const text = stack.slice(0, STACK_LENGTH_MAX);
  for (let at = text.indexOf(name); at !== -1; at = text.indexOf(name, at + name.length)) {
    // The end of a longer name is another file.
    if (/[\w.-]/.test(text[at - 1] ?? ' ')) continue;
    const after = text.slice(at + name.length, at + name.length + 30);
    const line = Number(/^(?::|\((?=\d)|["']?, line |:line )(\d{1,8})/.exec(after)?.[1]);
    if (line >= 1 && line <= LINE_MAX) return line;
  }
  return null;
}
