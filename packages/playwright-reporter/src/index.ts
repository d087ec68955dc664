/**
 * A Playwright reporter that sends each file of tests to ci-insights as soon as it ends.
 *
 * @example
 * // playwright.config.ts
 * export default { reporter: [['list'], ['@ci-insights/playwright-reporter']] };
 */
import { relative, sep } from 'node:path';
import { type ReporterOptions, ReporterSession } from '../../../src/client/reporter/session.ts';
import { playwright } from '../../../src/formats/playwright/format.ts';

export type { ReporterOptions } from '../../../src/client/reporter/session.ts';

/** The parts of Playwright's objects that are read here. */
interface ErrorInfo {
  message?: string | undefined;
  stack?: string | undefined;
}
interface Attempt {
  status: string;
  duration: number;
  startTime: Date;
  retry: number;
  errors: readonly ErrorInfo[];
  attachments?: readonly { name: string; contentType: string; path?: string | undefined }[];
}
interface TestCase {
  title: string;
  location: { file: string };
  results: readonly Attempt[];
  retries: number;
  expectedStatus: string;
  outcome(): string;
  /** Empty, project, file, describe blocks, title. */
  titlePath(): string[];
}
interface Config {
  rootDir: string;
  version: string;
}

export default class CiInsightsReporter {
  readonly #session: ReporterSession;
  readonly #errors: string[] = [];
  /** Tests of each file that have not ended. */
  readonly #waiting = new Map<string, Set<TestCase>>();
  readonly #ended = new Map<string, TestCase[]>();
  #config: Config = { rootDir: process.cwd(), version: '' };

  constructor(options: ReporterOptions = {}) {
    this.#session = new ReporterSession('playwright', playwright, options);
  }

  onBegin(config: Config, suite: { allTests(): TestCase[] }): void {
    this.#config = config;
    for (const test of suite.allTests()) {
      const file = this.#fileOf(test);
      this.#waiting.set(file, (this.#waiting.get(file) ?? new Set()).add(test));
    }
  }

  onTestEnd(test: TestCase, attempt: Attempt): void {
    const isLast =
      attempt.status === test.expectedStatus || attempt.status === 'skipped' || attempt.retry >= test.retries;
    if (!isLast) return;
    const file = this.#fileOf(test);
    this.#ended.set(file, [...(this.#ended.get(file) ?? []), test]);
    const waiting = this.#waiting.get(file);
    waiting?.delete(test);
    if (waiting?.size === 0) this.#send(file);
  }

  onError({ message = 'an error without a message' }: ErrorInfo): void {
    this.#errors.push(message);
  }

  async onEnd(): Promise<void> {
    // Playwright may stop before every test has run.
    for (const file of [...this.#ended.keys()]) this.#send(file);
    if (this.#errors.length > 0) this.#session.add('errors', this.#reportOf([], this.#errors), []);
    for (const line of await this.#session.end()) console.log(line);
  }

  printsToStdio(): boolean {
    return false;
  }

  #send(file: string): void {
    const tests = this.#ended.get(file) ?? [];
    this.#ended.delete(file);
    const failed = tests.filter((test) => test.outcome() === 'unexpected').map(nameOf);
    this.#session.add(
      file,
      this.#reportOf(
        tests.map((test) => this.#suiteOf(file, test)),
        [],
      ),
      failed,
    );
  }

  #fileOf = (test: TestCase): string => relative(this.#config.rootDir, test.location.file).split(sep).join('/');

  /** The report in the form of Playwright's JSON reporter. */
  #reportOf(suites: readonly object[], errors: readonly string[]): string {
    const { version } = this.#config;
    return JSON.stringify({ config: { version }, suites, errors: errors.map((message) => ({ message })) });
  }

  #suiteOf(file: string, test: TestCase): object {
    const [, projectName = '', , ...titles] = test.titlePath();
    const results = test.results.map(({ status, duration, startTime, retry, errors, attachments = [] }) => ({
      status,
      duration,
      startTime: startTime.toISOString(),
      retry,
      errors: errors.map(({ message, stack }) => ({ message, stack })),
      // Contents stay here: only files become links.
      attachments: attachments.flatMap(({ name, contentType, path }) => (path ? [{ name, contentType, path }] : [])),
    }));
    const tests = [{ projectName, expectedStatus: test.expectedStatus, status: test.outcome(), results }];
    let nested: object = { specs: [{ title: test.title, file, tests }] };
    for (const title of titles.slice(0, -1).reverse()) nested = { suites: [{ title, file, ...nested }] };
    return { title: file, file, ...nested };
  }
}

/** The service's name of the test. */
function nameOf(test: TestCase): string {
  const [, project = '', ...rest] = test.titlePath();
  return [project && `[${project}]`, ...rest].filter((part) => part !== '').join(' › ');
}
