/** Reports that break off, are none, or are made to do harm. */
import { describe, expect, test } from 'bun:test';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import { executionsOf, parseXml } from '../support/parsing.ts';

describe('reports that break off keep their whole tests and say where', () => {
  const head = '<testsuites>\n<testsuite name="s">\n<testcase name="a"/>\n<testcase name="b"/>\n';
  test.each([
    [
      'cut within an element',
      `${head}<testcase name="c"><failure>x`,
      'is cut short at line 5 within <failure>. The 2 before it are kept',
    ],
    ['cut within a tag', `${head}<testcase na`, 'is cut short at line 5 within <testcase>. The 2 before it are kept'],
    ['cut between tests', head, 'is cut short at line 5 within <testsuite>. The 2 before it are kept'],
    ['cut before any test', '<testsuites>', 'is cut short at line 1 within <testsuites>. No test before it was whole'],
    [
      'ends that do not match',
      `${head}<testcase name="c"></testsuite>`,
      'is not well-formed XML at line 5 within <testcase> (Unexpected close tag). The 2',
    ],
  ])('%s', async (_, xml, warning) => {
    const { warnings } = await parseXml(xml);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toStartWith(`The report ${warning}`);
  });
  test('control characters written as references are no reason to stop', async () => {
    const [a, b] = executionsOf(
      await parseXml(
        '<testsuite><testcase name="a"><failure>&#27;[31mred</failure></testcase><testcase name="b"/></testsuite>',
      ),
    );
    expect(a?.failures[0]?.stacktrace).toBe('&#27;[31mred');
    expect(b?.name).toBe('b');
  });
});

describe('what is no JUnit report is refused with a sentence', () => {
  test.each([
    ['empty', '', 'it holds no element'],
    ['text', 'hello', 'it is not well-formed XML at line 1 (Non-whitespace before first tag.)'],
    ['JSON', '{"a":1}', 'it is not well-formed XML'],
    ['another root', '<suites><suite/></suites>', 'its root is <suites>, not <testsuites> or <testsuite>'],
    ['HTML', '<html><body>502</body></html>', 'its root is <html>'],
    ['an XML declaration only', '<?xml version="1.0"?>', 'it holds no element'],
    ['a DTD', '<!DOCTYPE testsuite SYSTEM "http://x/y.dtd"><testsuite/>', 'it has a document type declaration (DTD)'],
    [
      'a billion laughs',
      '<!DOCTYPE t [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><testsuite><testcase name="&b;"/></testsuite>',
      'it has a document type declaration (DTD)',
    ],
  ])('%s', async (_, xml, why) => {
    const error = await parseXml(xml).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(InvalidUpload);
    expect(String(error)).toContain(`The body is not a JUnit XML report: ${why}`);
  });
});

test('elements nested a million deep are refused', async () => {
  await expect(parseXml('<testsuite>'.repeat(1_000_000))).rejects.toThrow('nests elements more than 100 deep');
});

test('more tests than an upload may hold are refused whole', async () => {
  const xml = `<testsuite>${'<testcase name="a"/>'.repeat(11)}</testsuite>`;
  await expect(parseXml(xml, { executionsMax: 10 })).rejects.toThrow(UploadTooLarge);
});
