/**
 * A suite of a pipeline's test report, as the JUnit report that GitLab has read: it does not give the file itself to programs.
 * Pure.
 */
import type { TestSuite } from './api.ts';

export function junitOf({ test_cases: cases }: TestSuite): string {
  const lines = cases.map((one) => {
    const attributes = Object.entries({
      classname: one.classname,
      name: one.name,
      file: one.file,
      time: one.execution_time?.toString(),
    }).flatMap(([name, value]) => (value === null || value === undefined ? [] : [` ${name}="${escaped(value)}"`]));
    return `<testcase${attributes.join('')}>${outcomeOf(one)}</testcase>`;
  });
  return `<testsuites><testsuite>${lines.join('\n')}</testsuite></testsuites>`;
}

function outcomeOf({ status, system_output: output, stack_trace: stack }: TestSuite['test_cases'][number]): string {
  if (status === 'skipped') return '<skipped/>';
  if (status !== 'failed' && status !== 'error') return '';
  const element = status === 'error' ? 'error' : 'failure';
  const text = [output, stack].filter((part) => part).join('\n');
  return `<${element}>${escaped(text)}</${element}>`;
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** XML has no way to write the other control characters. */
const escaped = (text: string): string =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
