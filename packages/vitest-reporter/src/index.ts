/**
 * A Vitest reporter that sends each file of tests to ci-insights as soon as it ends.
 *
 * @example
 * // vitest.config.ts
 * export default { test: { reporters: ['default', '@ci-insights/vitest-reporter'] } };
 */
import { relative, sep } from 'node:path';
import { junitOf, nameInService, type ReportedTest } from '../../../src/client/reporter/junit.ts';
import { type ReporterOptions, ReporterSession } from '../../../src/client/reporter/session.ts';
import { junit } from '../../../src/formats/junit/format.ts';

export type { ReporterOptions } from '../../../src/client/reporter/session.ts';

/** The parts of Vitest's objects (3 and later) that are read here. */
interface VitestError {
  name?: string | undefined;
  message: string;
  stack?: string | undefined;
}
interface TestCase {
  fullName: string;
  result(): { state: string; errors?: readonly VitestError[] | undefined };
  diagnostic(): { duration: number; startTime: number } | undefined;
}
interface TestModule {
  moduleId: string;
  children: { allTests(): Iterable<TestCase> };
  errors(): readonly VitestError[];
}

export default class CiInsightsReporter {
  readonly #options: ReporterOptions;
  #session: ReporterSession | undefined;
  #root = process.cwd();

  constructor(options: ReporterOptions = {}) {
    this.#options = options;
  }

  onInit({ config }: { config: { root: string } }): void {
    this.#root = config.root;
    this.#session = new ReporterSession('vitest', junit, this.#options);
  }

  onTestModuleEnd(testModule: TestModule): void {
    const path = relative(this.#root, testModule.moduleId).split(sep).join('/');
    const tests = [...testModule.children.allTests()].map(reportedOf);
    const failed = tests.filter(({ status }) => status === 'failed').map(({ name }) => nameInService(path, name));
    const errors = testModule.errors().map(({ message }) => message);
    this.#session?.add(path, junitOf({ runner: 'vitest tests', path, tests, errors }), failed);
  }

  async onTestRunEnd(): Promise<void> {
    for (const line of (await this.#session?.end()) ?? []) console.log(line);
  }
}

function reportedOf(test: TestCase): ReportedTest {
  const { state, errors } = test.result();
  const { duration = 0, startTime = null } = test.diagnostic() ?? {};
  return {
    name: test.fullName,
    status: state === 'passed' || state === 'failed' ? state : 'skipped',
    durationMs: duration,
    startedAtMs: startTime,
    failures: (errors ?? []).map(({ name, message, stack }) => ({ type: name ?? null, message, stack: stack ?? null })),
  };
}
