/** The tests of a package, from its first event to its last. */
import type { Status } from '../../domain/status.ts';
import { cutFailure, type ReportedExecution } from '../report.ts';
import type { ParsedFailure } from '../upload.ts';
import type { GoEvent } from './events.ts';
import { Output } from './output.ts';

/**
 * Stands for the package itself: it passes if the tests compile, start and end in order. Go has this name for what a
 * package runs around its tests. It is also reported when it passes; otherwise a package would look broken forever
 * after one failed build.
 */
const PACKAGE_TEST = 'TestMain';
/** Names of sub-tests contain a `/` for each level, and a name may contain thousands of them. */
const PARENTS_MAX = 20;
const SUBTESTS_SHOWN_MAX = 100;
/** Tests stopped by one timeout that keep its goroutines: they are the same for all, and may take 256 KiB. */
const TIMEOUT_TRACES_MAX = 20;
const BENCHMARK_RESULT = /\s\d+\t\s*[\d.]+ ns\/op/;

interface Test {
  name: string;
  output: Output;
  startedAtMs: number | null;
  isPaused: boolean;
  hasBenchmarkResult: boolean;
  lastAtMs: number | null;
  failedSubtests: string[];
}

/** The results of a package. */
export interface EndedPackage {
  executions: ReportedExecution[];
  /** Go took the results from its cache, so nothing ran. */
  isCached: boolean;
  /** Tests that were stopped through no fault of theirs. */
  unfinished: string[];
}

export class GoPackage {
  readonly #running = new Map<string, Test>();
  /** The executions of tests that have ended. */
  readonly executions: ReportedExecution[] = [];
  readonly #output = new Output();
  #isCached = false;
  #isBuildFailed = false;
  #hasFailedTest = false;
  /** If a test panicked, it also stopped the others that were running. */
  #hasCrashedTest = false;

  constructor(readonly name: string) {}

  /** @param countTest called before a test is remembered */
  read(event: GoEvent, atMs: number | null, countTest: () => void): void {
    if (event.Test === '') this.#readPackage(event);
    else {
      const test = this.#running.get(event.Test) ?? this.#begun(event, atMs, countTest);
      if (test) this.#readTest(test, event, atMs);
    }
  }

  #begun({ Test: name, Action }: GoEvent, atMs: number | null, countTest: () => void): Test | null {
    // Output may arrive after the end of its test; it does not start the test again.
    if (!/^(?:run|pass|fail|skip|bench)$/.test(Action)) return null;
    countTest();
    const test: Test = {
      name,
      output: new Output(),
      startedAtMs: atMs,
      isPaused: false,
      hasBenchmarkResult: false,
      lastAtMs: atMs,
      failedSubtests: [],
    };
    this.#running.set(name, test);
    return test;
  }

  #readPackage({ Action, Output: text }: GoEvent): void {
    if (Action !== 'output') return;
    this.#output.add(text);
    if (/^ok {2}\t.*\t\(cached\)/.test(text)) this.#isCached = true;
    if (/\[(?:build|setup) failed\]\s*$/.test(text)) this.#isBuildFailed = true;
  }

  #readTest(test: Test, { Action, Output: text, Elapsed }: GoEvent, atMs: number | null): void {
    test.lastAtMs = atMs;
    switch (Action) {
      case 'output':
        test.output.add(text);
        test.hasBenchmarkResult ||= BENCHMARK_RESULT.test(text);
        return;
      case 'pause':
      case 'cont':
        test.isPaused = Action === 'pause';
        return;
      case 'pass':
      case 'bench':
        this.#end(test, 'passed', Elapsed);
        return;
      case 'skip':
        this.#end(test, 'skipped', Elapsed);
        return;
      case 'fail':
        this.#end(test, 'failed', Elapsed, failureOf(test));
    }
  }

  #end(test: Test, status: Status, elapsedSeconds?: number, failure?: Omit<ParsedFailure, 'attempt'>): void {
    this.#running.delete(test.name);
    if (status === 'failed') this.#noteFailure(test);
    const { startedAtMs, lastAtMs } = test;
    const spentMs = startedAtMs === null || lastAtMs === null ? 0 : lastAtMs - startedAtMs;
    const { name, lastAtMs: finishedAtMs } = test;
    this.executions.push(this.#executionOf(name, status, elapsedSeconds ?? spentMs / 1000, finishedAtMs, failure));
  }

  #noteFailure(test: Test): void {
    this.#hasFailedTest = true;
    this.#hasCrashedTest ||= test.output.hasCrash;
    let slash = test.name.indexOf('/');
    for (let parents = 0; slash >= 0 && parents < PARENTS_MAX; parents++) {
      const parent = this.#running.get(test.name.slice(0, slash));
      if (parent && parent.failedSubtests.length < SUBTESTS_SHOWN_MAX) parent.failedSubtests.push(test.name);
      slash = test.name.indexOf('/', slash + 1);
    }
  }

  #executionOf(
    test: string,
    status: Status,
    durationSeconds: number,
    finishedAtMs: number | null,
    failure: Omit<ParsedFailure, 'attempt'> | undefined,
  ): ReportedExecution {
    return {
      place: [this.name, test],
      // The same name as in JUnit reports of gotestsum, so that history continues when a project changes the format.
      name: [this.name, test].filter((part) => part !== '').join('.'),
      status,
      durationSeconds: Math.max(0, durationSeconds),
      finishedAtMs,
      filepath: null,
      function: test.split('/', 1)[0] ?? test,
      isFlaky: false,
      isRetried: false,
      failures: failure ? [cutFailure({ attempt: 1, ...failure })] : [],
    };
  }

  /** @param buildOutput the errors of the compiler; null if the package was built */
  end(event: GoEvent, atMs: number | null, buildOutput: string | null): EndedPackage {
    const unfinished = this.#endUnfinished(event.Action === 'fail', atMs);
    const isFailed = event.Action === 'fail' && !this.#hasFailedTest;
    if (isFailed || this.executions.length > 0) {
      const failure = isFailed ? this.#packageFailure(buildOutput) : undefined;
      const status = isFailed ? 'failed' : 'passed';
      this.executions.push(this.#executionOf(PACKAGE_TEST, status, event.Elapsed ?? 0, atMs, failure));
    }
    return { executions: this.executions, isCached: this.#isCached, unfinished };
  }

  #packageFailure(buildOutput: string | null): Omit<ParsedFailure, 'attempt'> {
    if (buildOutput !== null || this.#isBuildFailed)
      return { type: 'build failed', message: (buildOutput ?? this.#output.text()) || null, stacktrace: null };
    return failureOf({ output: this.#output, failedSubtests: [] });
  }

  /** Benchmarks that pass have no end event, and tests have none if the process of the package dies. */
  #endUnfinished(isFailed: boolean, atMs: number | null): string[] {
    for (const test of this.#running.values()) if (test.hasBenchmarkResult) this.#end(test, 'passed');
    if (!isFailed) return [...this.#running.keys()];
    for (const test of this.#running.values()) test.lastAtMs = atMs;
    // Innermost first, because a failed sub-test makes its parents fail.
    const innermostFirst = [...this.#running.values()].sort((a, b) => b.name.length - a.name.length);
    const timedOut = [this.#output, ...innermostFirst.map(({ output }) => output)].find(({ timeout }) => timeout);
    const wereRunning = new Set(timedOut?.runningTests());
    let traceCount = 0;
    for (const test of innermostFirst) {
      if (timedOut && wereRunning.has(test.name))
        this.#end(test, 'failed', undefined, timeoutOf(test, timedOut, traceCount++ < TIMEOUT_TRACES_MAX));
      else if (test.failedSubtests.length > 0) this.#end(test, 'failed', undefined, failureOf(test));
      else if (test.output.hasCrash && wereRunning.size === 0) this.#end(test, 'failed', undefined, failureOf(test));
    }
    if (!this.#hasCrashedTest && wereRunning.size === 0)
      for (const test of innermostFirst)
        if (this.#running.has(test.name) && !test.isPaused)
          this.#end(test, 'failed', undefined, exitOf(test, this.#output));
    return [...this.#running.keys()];
  }
}

function failureOf({
  output,
  failedSubtests,
}: Pick<Test, 'output' | 'failedSubtests'>): Omit<ParsedFailure, 'attempt'> {
  const text = output.text();
  if (output.timeout !== null)
    return { type: 'timeout', message: output.timeout, stacktrace: joined(text, output.crashText()) };
  if (output.hasCrash)
    return { type: 'panic', message: output.crashMessage(), stacktrace: joined(text, output.crashText()) };
  if (text === '' && failedSubtests.length > 0)
    return { type: null, message: 'A sub-test failed.', stacktrace: failedSubtests.join('\n') };
  return { type: null, message: text || null, stacktrace: null };
}

/** The failure of a test that was running at the timeout. Go adds the timeout to the output of any running test. */
const timeoutOf = ({ output }: Test, timedOut: Output, withTrace: boolean): Omit<ParsedFailure, 'attempt'> => ({
  type: 'timeout',
  message: timedOut.timeout,
  stacktrace: joined(output.text(), withTrace ? timedOut.crashText() : ''),
});

/** The failure of a test during which the process ended, such as by `os.Exit`. */
const exitOf = ({ output }: Test, packageOutput: Output): Omit<ParsedFailure, 'attempt'> => ({
  type: null,
  message: joined('The package ended before this test did.', packageOutput.crashMessage(), output.text()),
  stacktrace: packageOutput.crashText() || null,
});

const joined = (...texts: string[]): string | null => texts.filter((text) => text !== '').join('\n\n') || null;
