/** A long report reads as a short one: only the memory that it keeps is another. */
import { expect, test } from 'bun:test';
import { executionsOf, parseXml } from '../support/parsing.ts';

const MEBIBYTE = 1024 * 1024;
const FAILURE = 'expected “1” → 2 &lt;🛒&gt;\n    at Cart.add (cart.ts:1:1)';
const testcase = (name: string, text: string): string =>
  `<testcase name="${name}" classname="a→b" file="src/ü.ts"><failure type="E&amp;F" message="no 🛒"><![CDATA[${text}]]>${FAILURE}</failure></testcase>`;

test('names and texts are the same before and behind the first 8 MiB, whatever characters they have', async () => {
  const long = '    at Shop.do (shop.ts:2:2)\n'.repeat(8_000);
  const xml = `<testsuite>${testcase('first', 'seen → ')}${Array.from({ length: 50 }, (_, i) => testcase(`t${i}`, long)).join('')}${testcase('last', 'seen → ')}</testsuite>`;
  expect(xml.length).toBeGreaterThan(10 * MEBIBYTE);
  const executions = executionsOf(await parseXml(xml));
  const [first, last] = [executions[0], executions.at(-1)];
  expect(last).toMatchObject({ name: expect.stringContaining('last'), filepath: 'src/ü.ts' });
  expect(last?.failures).toEqual(first?.failures ?? []);
  expect(last?.failures[0]).toMatchObject({ type: 'E&F', message: 'no 🛒' });
  expect(last?.failures[0]?.stacktrace).toContain('seen → expected “1” → 2 <🛒>');
});
