/**
 * A Jest reporter that sends each file of tests to ci-insights as soon as it ends.
 *
 * @example
 * // jest.config.js
 * export default { reporters: ['default', '@ci-insights/jest-reporter'] };
 */
import { relative, sep } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { junitOf, nameInService, type ReportedTest } from '../../../src/client/reporter/junit.ts';
import { type ReporterOptions, ReporterSession } from '../../../src/client/reporter/session.ts';
import { junit } from '../../../src/formats/junit/format.ts';

export type { ReporterOptions } from '../../../src/client/reporter/session.ts';

/** The parts of Jest's objects (28 and later) that are read here. */
interface AssertionResult {
  ancestorTitles: readonly string[];
  title: string;
  status: string;
  duration?: number | null | undefined;
  startAt?: number | null | undefined;
  failureMessages: readonly string[];
  /** How often it ran, with `jest.retryTimes`. */
  invocations?: number | undefined;
  /** Errors of the attempts before the last one, if `logErrorsBeforeRetry` is on. */
  retryReasons?: readonly string[] | undefined;
}
interface TestResult {
  testFilePath: string;
  testResults: readonly AssertionResult[];
  testExecError?: { message?: string | undefined } | null | undefined;
}

export default class CiInsightsReporter {
  readonly #session: ReporterSession;
  readonly #root: string;

  constructor({ rootDir }: { rootDir: string }, options: ReporterOptions = {}) {
    this.#root = rootDir;
    this.#session = new ReporterSession('jest', junit, options);
  }

  onTestResult(_test: unknown, { testFilePath, testResults, testExecError }: TestResult): void {
    const path = relative(this.#root, testFilePath).split(sep).join('/');
    const tests = testResults.map(reportedOf);
    const failed = tests.filter(({ status }) => status === 'failed').map(({ name }) => nameInService(path, name));
    const errors = testExecError ? [testExecError.message ?? 'the file cannot be run'] : [];
    this.#session.add(path, junitOf({ runner: 'jest tests', path, tests, errors }), failed);
  }

  async onRunComplete(): Promise<void> {
    for (const line of await this.#session.end()) process.stderr.write(`${line}\n`);
  }
}

const reportedOf = ({ ancestorTitles, title, status, duration, startAt, ...test }: AssertionResult): ReportedTest => ({
  name: [...ancestorTitles, title].join(' > '),
  status: status === 'passed' || status === 'failed' ? status : 'skipped',
  durationMs: duration ?? 0,
  startedAtMs: startAt ?? null,
  failures: [...reasonsOf({ status, ...test }), ...test.failureMessages].map(failureOf),
});

/**
 * A test that failed has its last failure. One that passed must show that it failed before, even if Jest does not say why.
 */
const reasonsOf = ({ status, retryReasons = [], invocations = 1 }: Partial<AssertionResult>): readonly string[] =>
  retryReasons.length > 0 || status !== 'passed'
    ? retryReasons
    : Array.from({ length: invocations - 1 }, () => 'failed; with logErrorsBeforeRetry, Jest says why');

/** Jest has one text for each failure: `TypeError: x is undefined`, then the stack. */
function failureOf(text: string): ReportedTest['failures'][number] {
  const plain = stripVTControlCharacters(text).trim();
  const [, type = null] = /^([\w.$]*(?:Error|Exception))(?:: |\n|$)/.exec(plain) ?? [];
  const stackAt = plain.search(/\n[^\S\n]+at /);
  const message = (stackAt < 0 ? plain : plain.slice(0, stackAt)).trim();
  return { type, message: type === null ? message : message.slice(type.length).replace(/^:\s*/, ''), stack: plain };
}
