/** Reports that are not quite XML, as scripts write them with templates: what of them is read. */
import { describe, expect, test } from 'bun:test';
import { trx } from '../../src/formats/trx/format.ts';
import { executionOfCase, executionsOf, parseXml, statusesOf } from '../support/parsing.ts';
import { outcomesOf, parse } from '../support/reports.ts';

describe('a character that begins nothing is the character it is', () => {
  test.each([
    ['salt & pepper', 'salt & pepper'],
    ['R&D', 'R&D'],
    ['a && b', 'a && b'],
    ['a & b; c', 'a & b; c'],
    ['a &', 'a &'],
    ['&', '&'],
    ['&;', '&;'],
    ['&#; &#x; &#xg;', '&#; &#x; &#xg;'],
    ['x?a=1&b=2&amp;c=3', 'x?a=1&b=2&c=3'],
    ['&lt;&nbsp;&unknown;', '<\u00a0&unknown;'],
    ['a < b', 'a < b'],
  ])('in a name: %s', async (written, name) => {
    const upload = await parseXml(
      `<testsuite><testcase name="${written}"/><testcase name="next"><failure/></testcase></testsuite>`,
    );
    expect(statusesOf(upload)).toEqual({ [name]: 'passed', next: 'failed' });
    expect(upload.warnings).toEqual([]);
  });
  test.each([
    ['a & b', 'a & b'],
    ['expected 1 < 2 && 3 <4', 'expected 1 < 2 && 3 <4'],
    ['a <= b & c &amp; d', 'a <= b & c & d'],
    ['ends with &', 'ends with &'],
    ['ends with <', 'ends with <'],
    ['<![CDATA[a & b < c &amp; ]]>', 'a & b < c &amp;'],
    ['\u001b[31mred\u0007', '\u001b[31mred\u0007'],
  ])('in a text: %j', async (written, stacktrace) => {
    const { failures } = await executionOfCase(`<testcase name="t"><failure>${written}</failure></testcase>`);
    expect(failures[0]?.stacktrace).toBe(stacktrace);
  });
  test('wherever the report is cut into pieces', async () => {
    for (let before = 65_536 - 12; before <= 65_536; before++) {
      const text = `${'x'.repeat(before - '<testsuite><testcase name="t"><failure>'.length)} &am & &amp; < &#65; `;
      const { failures } = await executionOfCase(`<testcase name="t"><failure>${text}</failure></testcase>`);
      expect(failures[0]?.stacktrace).toEndWith('x &am & & < A');
    }
  });
});

describe('what stands around a report', () => {
  const REPORT = '<testsuite name="s"><testcase name="t"/></testsuite>';
  test.each([
    ['lines of a log before it', `> shop@1.0.0 test\n{"level":30}\n<?xml version="1.0"?>\n${REPORT}`],
    ['a line before it, without a declaration', `loading\n${REPORT}`],
    ['lines of a log after it', `${REPORT}\nnpm notice\nnpm notice a new version & more\n`],
  ])('%s', async (_, body) => {
    const upload = await parseXml(body);
    expect(statusesOf(upload)).toEqual({ t: 'passed' });
    expect(upload.warnings).toEqual([]);
  });
  test('another report after it is read, too', async () => {
    const upload = await parseXml(
      `<?xml version="1.0"?>${REPORT}\n<?xml version="1.0"?><testsuite><testcase name="u"/></testsuite>`,
    );
    expect(statusesOf(upload)).toEqual({ t: 'passed', u: 'passed' });
  });
  test('a web page that contains a report is none', async () => {
    await expect(parseXml(`<html><pre>${REPORT}</pre></html>`)).rejects.toThrow('its root is <html>');
  });
  test('of TRX', async () => {
    const body =
      'Results File: r.trx\n<TestRun><Results><UnitTestResult testName="a & b" outcome="Passed"/></Results></TestRun>\nTest Run Successful.\n';
    expect(outcomesOf(await parse(trx, body))).toEqual({ 'a & b': 'passed' });
  });
});

describe('a report that is cut', () => {
  test.each([
    ['in CDATA', '<system-out><![CDATA[a line'],
    ['in an end of CDATA', '<system-out><![CDATA[a line]]'],
    ['in a reference', '<system-out>a &am'],
    ['behind an ampersand', '<system-out>a &'],
    ['behind a bracket', '<system-out>a <'],
    ['in a comment', '<!-- a'],
    ['in an attribute', '<properties a="b'],
  ])('%s keeps the tests that are whole, and says so', async (_, ending) => {
    const upload = await parseXml(`<testsuite><testcase name="a"/><testcase name="b">${ending}`);
    expect(executionsOf(upload).map(({ name }) => name)).toEqual(['a']);
    expect(upload.warnings).toEqual([expect.stringMatching(/The 1 before it is kept; what followed is lost\.$/)]);
  });
});
