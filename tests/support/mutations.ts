/** Changes real input in ways that break parsers: bytes, pieces, numbers, and words of the format. */

type Random = () => number;

const WORDS: readonly Buffer[] = [
  ...[
    '<testcase name="t">',
    '</testcase>',
    '<testsuite>',
    '<failure>',
    ']]>',
    '<![CDATA[',
    '&#0;',
    '&#xD800;',
    '&nbsp;',
  ],
  ...['<!DOCTYPE a [', '<?xml version="1.0" encoding="UTF-16"?>', '<UnitTestResult outcome="Failed"/>', '" name="'],
  ...['null', '{}', '[]', '{"', '":', ',', '\\u0000', '\\ud83d', '"', '1e999', '-1', '99999999999999999999', 'true'],
  ...['{"Action":"pass","Package":"p","Test":"T"}\n', '\n', '{"Action":"fail"}\n', '\u{feff}', '\0', 'é', '🍎'],
].map((word) => Buffer.from(word));
const NUMBERS = ['0', '-1', '1e308', '18446744073709551615', '2147483648', '4294967296', '0.1', '', 'NaN'].map((one) =>
  Buffer.from(one),
);

const upTo = (random: Random, max: number): number => Math.floor(random() * max);
const pick = <T>(random: Random, list: readonly T[]): T => list[upTo(random, list.length)] as T;
const spliced = (body: Buffer, start: number, end: number, inner: Buffer): Buffer =>
  Buffer.concat([body.subarray(0, start), inner, body.subarray(end)]);

const MUTATIONS: readonly ((body: Buffer, random: Random, others: readonly Buffer[]) => Buffer)[] = [
  (body, random) => {
    const changed = Buffer.from(body);
    for (let i = upTo(random, 4); i >= 0; i--) changed[upTo(random, body.length)] = upTo(random, 256);
    return changed;
  },
  (body, random) => body.subarray(0, upTo(random, body.length)),
  (body, random) => {
    const start = upTo(random, body.length);
    return spliced(body, start, start + upTo(random, 200), Buffer.alloc(0));
  },
  (body, random) => {
    const start = upTo(random, body.length);
    const piece = body.subarray(start, start + upTo(random, 200));
    return spliced(body, start, start, Buffer.concat(Array<Buffer>(1 + upTo(random, 5)).fill(piece)));
  },
  (body, random) => {
    const at = upTo(random, body.length);
    return spliced(body, at, at, pick(random, WORDS));
  },
  (body, random, others) => {
    const other = pick(random, others);
    const start = upTo(random, other.length);
    const at = upTo(random, body.length);
    return spliced(body, at, at + upTo(random, 100), other.subarray(start, start + upTo(random, 300)));
  },
  (body, random) => {
    const digits = [...body.toString('latin1').matchAll(/\d+(?:\.\d+)?/g)];
    if (digits.length === 0) return body;
    const { index, 0: text } = pick(random, digits);
    return spliced(body, index, index + text.length, pick(random, NUMBERS));
  },
];

/** One to four changes. */
export function mutated(body: Buffer, random: Random, others: readonly Buffer[]): Buffer {
  let changed = body;
  for (let i = upTo(random, 4); i >= 0; i--)
    if (changed.length > 0) changed = pick(random, MUTATIONS)(changed, random, others);
  return changed;
}
