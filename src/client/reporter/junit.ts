/** Writes a JUnit report of one file of tests, for runners whose plugin has the results as objects. */
import { stripVTControlCharacters } from 'node:util';

export interface ReportedTest {
  /** Within the file: `Cart > adds an item`. */
  name: string;
  status: 'passed' | 'failed' | 'skipped';
  durationMs: number;
  /** Milliseconds since the epoch; null if the runner does not say. */
  startedAtMs: number | null;
  /** One for each failed attempt. A test that passed nevertheless is flaky. */
  failures: { type: string | null; message: string; stack: string | null }[];
}

export interface ReportedFile {
  /** By which the service knows the runner, such as `vitest tests`. */
  runner: string;
  /** Relative to the root of the project, with `/`. */
  path: string;
  tests: readonly ReportedTest[];
  /** Errors outside of tests, such as a file that cannot be loaded. */
  errors: readonly string[];
}

/** The name by which the service knows a test: that of a JUnit report of the runner itself. */
export const nameInService = (path: string, name: string): string => `${path}.${name}`;

export function junitOf({ runner, path, tests, errors }: ReportedFile): string {
  const suite = [
    ...errors.map((message) => `<error message="${xml(message)}"/>`),
    ...tests.map((test) => caseOf(path, test)),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="${xml(runner)}">
<testsuite name="${xml(path)}" file="${xml(path)}" tests="${tests.length}">
${suite.join('\n')}
</testsuite>
</testsuites>
`;
}

function caseOf(path: string, { name, status, durationMs, startedAtMs, failures }: ReportedTest): string {
  const time = `time="${durationMs / 1_000}"`;
  const started = startedAtMs === null ? '' : ` timestamp="${new Date(startedAtMs).toISOString()}"`;
  const element = status === 'passed' ? 'flakyFailure' : 'failure';
  const children = failures.map(
    ({ type, message, stack }) =>
      `<${element}${type === null ? '' : ` type="${xml(type)}"`} message="${xml(message)}">${xml(stack ?? '')}</${element}>`,
  );
  // A failure that the runner does not describe is a failure all the same.
  if (status === 'failed' && failures.length === 0) children.push('<failure/>');
  if (status === 'skipped') children.push('<skipped/>');
  return `<testcase classname="${xml(path)}" name="${xml(name)}" file="${xml(path)}" ${time}${started}>${children.join('')}</testcase>`;
}

/** Text for an attribute or an element, without what XML cannot hold. */
const xml = (text: string): string =>
  stripVTControlCharacters(text)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML 1.0 has no way to write
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .toWellFormed()
    .replace(/&/g, '&amp;')
    .replace(/</g, '&lt;')
    .replace(/>/g, '&gt;')
    .replace(/"/g, '&quot;')
    .replace(/\n/g, '&#10;')
    .replace(/\t/g, '&#9;')
    .replace(/\r/g, '&#13;');
