/** The limits of uploads: their names in the code, their rows in docs/api.md, and the sentences that name them. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import * as limits from '../../src/domain/limits.ts';
import { goTest } from '../../src/ingest/formats/go-test/format.ts';
import { playwright } from '../../src/ingest/formats/playwright/format.ts';
import { parseOtlp } from '../../src/ingest/otlp/map.ts';
import { parseReport } from '../../src/ingest/reports/parse.ts';
import { otlpJson } from '../support/otlp.ts';
import { parseSpans, parseXml, RUN } from '../support/parsing.ts';

const ROWS = [
  ...readFileSync(new URL('../../docs/api.md', import.meta.url), 'utf8').matchAll(
    /^\| `([A-Z_0-9]+)` \| ([\d,]+) \|/gm,
  ),
].map(([, name = '', most = '']) => [name, Number(most.replaceAll(',', ''))] as const);
/** Limits of other things than uploads. */
const OTHERS = /^(?:UINT32|REASON|PULL_REQUEST|COMMENT|METADATA|SEARCH|PLACE)/;

test('docs/api.md has a row for each limit of uploads, with its value', () => {
  const numbers = Object.entries(limits).filter(([name, value]) => typeof value === 'number' && !OTHERS.test(name));
  expect<unknown>(Object.fromEntries(ROWS)).toEqual(Object.fromEntries(numbers));
});

const mostOf = (name: string): number => Object.fromEntries(ROWS)[name] ?? Number.NaN;
const parse = (format: typeof goTest, text: string) =>
  parseReport(format, Buffer.from(text), { run: RUN, reportName: 'r' });
const spans = (list: string) => Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${list}]}]}]}`);

test.each([
  ['XML_PARTS_MAX', () => parseXml(`<testsuite>${'<a/>'.repeat(400_000)}</testsuite>`)],
  ['XML_ATTRIBUTES_MAX', () => parseXml(`<testsuite ${Array.from({ length: 201 }, (_, i) => `a${i}=""`).join(' ')}/>`)],
  ['DEPTH_MAX', () => parseXml('<testsuite>'.repeat(101))],
  ['GO_EVENTS_MAX', () => parse(goTest, '{"Action":"output"}\n'.repeat(503_000))],
  ['JSON_PARTS_MAX', () => parse(playwright, `{"suites":[${'1,'.repeat(1_500_000)}1]}`)],
  ['SPANS_MAX', () => parseOtlp(spans(`${'{},'.repeat(200_000)}{}`), 'json')],
] as const)('%s is in the sentence for what is beyond it', async (name, beyond) => {
  await expect(beyond()).rejects.toThrow(String(mostOf(name)));
});

test.each([
  ['TEST_NAME_LENGTH_MAX', () => parseSpans({ spans: [{ name: 'x'.repeat(10_001) }] })],
  ['NAME_LENGTH_MAX', () => parseSpans({ resource: { 'cicd.pipeline.name': 'x'.repeat(256) }, spans: [{}] })],
  ['SPAN_ATTRIBUTES_MAX', () => parseOtlp(spans(`{"attributes":[${'{},'.repeat(1_000)}{}]}`), 'json')],
] as const)('%s is in the reason for the row that is refused', async (name, beyond) => {
  expect((await beyond()).rejections).toMatchObject([{ reason: expect.stringContaining(String(mostOf(name))) }]);
});

test('an export within the limits is taken', async () => {
  expect((await parseOtlp(Buffer.from(otlpJson({ spans: [{}] })), 'json')).rejections).toEqual([]);
});
