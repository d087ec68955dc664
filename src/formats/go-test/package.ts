/** The tests of a package, from its first event to its last. */
import type { Status } from '../../domain/status.ts';
import { cutFailure, type ReportedRecord } from '../report.ts';
import type { ParsedFailure } from '../upload.ts';
import type { GoEvent } from './events.ts';
import { Output } from './output.ts';
import { type StatedResult, statedResult, statedRun } from './stated-result.ts';

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
const NAME_SHOWN_LENGTH_MAX = 200;
const BENCHMARK_RESULT = /\s\d+\t\s*[\d.]+ ns\/op/;

interface Test {
  name: string;
  output: Output;
  startedAtMs: number | null;
  isPaused: boolean;
  hasBenchmarkResult: boolean;
  lastAtMs: number | null;
  failedSubtests: string[];
  /** Its result, if that stands only in its output. */
  stated: StatedResult | null;
  /** A test whose output Go takes for this one's, because it began within a line of it. */
  follower: Test | null;
}

/** The results of a package. */
export interface EndedPackage {
  records: ReportedRecord[];
  /** Go took the results from its cache, so nothing ran. */
  isCached: boolean;
  /** Tests that were stopped through no fault of theirs. */
  unfinished: string[];
  /** Why its tests did not all run, such as "TestPays panicked"; null if they did, as far as is known. */
  crash: string | null;
}

export class GoPackage {
  readonly #running = new Map<string, Test>();
  /** The records of tests that have ended. */
  readonly records: ReportedRecord[] = [];
  readonly #output = new Output();
  #isCached = false;
  #isBuildFailed = false;
  #hasFailedTest = false;
  /** The test that ended the process, with all others that were running. Null again once another test begins. */
  #crashedTest: string | null = null;
  /** The output of a test that passed, but says why the package fails: Go adds to it all that is printed later. */
  #strayOutput: Output | null = null;

  /** @param round how often the package ran before */
  constructor(
    readonly name: string,
    readonly round: number,
  ) {}

  /** @param countTest called before a test is remembered */
  read(event: GoEvent, atMs: number | null, countTest: () => void): void {
    if (event.Test === '') {
      this.#readPackage(event);
      return;
    }
    // A test that panics in a line of output, and lives on, has only printed it.
    if (event.Action === 'run') {
      this.#crashedTest = null;
      this.#strayOutput = null;
    }
    const test = this.#running.get(event.Test) ?? this.#begun(event, atMs, countTest);
    if (test) this.#readTest(test, event, atMs, countTest);
    else if (event.Action === 'output') this.#output.add(event.Output);
  }

  #begun({ Test: name, Action }: GoEvent, atMs: number | null, countTest: () => void): Test | null {
    // Output may arrive after the end of its test; it does not start the test again.
    return /^(?:run|pass|fail|skip|bench)$/.test(Action) ? this.#started(name, atMs, countTest) : null;
  }

  #started(name: string, atMs: number | null, countTest: () => void): Test {
    countTest();
    const test: Test = {
      name,
      output: new Output(),
      startedAtMs: atMs,
      isPaused: false,
      hasBenchmarkResult: false,
      lastAtMs: atMs,
      failedSubtests: [],
      stated: null,
      follower: null,
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

  #readTest(test: Test, { Action, Output: text, Elapsed }: GoEvent, atMs: number | null, countTest: () => void): void {
    test.lastAtMs = atMs;
    switch (Action) {
      case 'output':
        this.#readOutput(test, text, atMs, countTest);
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

  /** The line may state the result of another test: a parent's follows the output of its last sub-test. */
  #readOutput(test: Test, text: string, atMs: number | null, countTest: () => void): void {
    const speaker = test.follower && this.#running.has(test.follower.name) ? test.follower : test;
    const stated = statedResult(text);
    const ended = stated && this.#running.get(stated.test);
    const begun = stated ? null : statedRun(text);
    if (ended) ended.stated = stated;
    if (begun && rootOf(begun.test) === rootOf(test.name) && !this.#running.has(begun.test))
      test.follower = this.#started(begun.test, atMs, countTest);
    speaker.output.add(stated && ended ? stated.before : (begun?.before ?? text));
    speaker.hasBenchmarkResult ||= BENCHMARK_RESULT.test(text);
  }

  #end(test: Test, status: Status, elapsedSeconds?: number, failure?: Omit<ParsedFailure, 'attempt'>): void {
    this.#running.delete(test.name);
    if (status === 'failed') this.#noteFailure(test);
    else if (test.output.hasCrash || test.output.hasRace) this.#strayOutput ??= test.output;
    const { startedAtMs, lastAtMs } = test;
    const spentMs = startedAtMs === null || lastAtMs === null ? 0 : lastAtMs - startedAtMs;
    const { name, lastAtMs: finishedAtMs } = test;
    this.records.push(this.#recordOf(name, status, elapsedSeconds ?? spentMs / 1000, finishedAtMs, failure));
  }

  #noteFailure(test: Test): void {
    this.#hasFailedTest = true;
    if (test.output.hasCrash) this.#crashedTest ??= test.name;
    let slash = test.name.indexOf('/');
    for (let parents = 0; slash >= 0 && parents < PARENTS_MAX; parents++) {
      const parent = this.#running.get(test.name.slice(0, slash));
      if (parent && parent.failedSubtests.length < SUBTESTS_SHOWN_MAX) parent.failedSubtests.push(test.name);
      slash = test.name.indexOf('/', slash + 1);
    }
  }

  #recordOf(
    test: string,
    status: Status,
    durationSeconds: number,
    finishedAtMs: number | null,
    failure: Omit<ParsedFailure, 'attempt'> | undefined,
  ): ReportedRecord {
    return {
      place: [this.name, test],
      // The same name as in JUnit reports of gotestsum, so that history continues when a project changes the format.
      name: [this.name, test].filter((part) => part !== '').join('.'),
      status,
      durationSeconds: Math.max(0, durationSeconds),
      finishedAtMs,
      filepath: null,
      function: rootOf(test),
      isFlaky: false,
      isRetried: false,
      failures: failure ? [cutFailure({ attempt: 1, ...failure })] : [],
      // `-count` repeats tests; gotestsum runs those that failed in another run of the package.
      listing: 'repeats',
      round: this.round,
      home: null,
    };
  }

  /** @param buildOutput the errors of the compiler; null if the package was built */
  end(event: GoEvent, atMs: number | null, buildOutput: string | null): EndedPackage {
    const hasFailed = event.Action === 'fail';
    const unfinished = this.#endUnfinished(hasFailed, atMs);
    const crash = hasFailed ? this.#crash(buildOutput) : null;
    const isFailed = hasFailed && !this.#hasFailedTest;
    // gotestsum runs each test that failed in another process, which is not another execution of the package.
    if (isFailed || (this.records.length > 0 && this.round === 0)) {
      const failure = isFailed ? this.#packageFailure(buildOutput) : undefined;
      const status = isFailed ? 'failed' : 'passed';
      this.records.push(this.#recordOf(PACKAGE_TEST, status, event.Elapsed ?? 0, atMs, failure));
    }
    return { records: this.records, isCached: this.#isCached, unfinished, crash };
  }

  /** The trouble that kept tests of the package from running. */
  #crash(buildOutput: string | null): string | null {
    if (buildOutput !== null || this.#isBuildFailed) return 'it was not built';
    const timeout = [this.#output, this.#strayOutput].find((output) => output?.timeout)?.timeout;
    if (timeout) return timeout;
    if (this.#crashedTest !== null) return `${this.#crashedTest.slice(0, NAME_SHOWN_LENGTH_MAX)} ended its process`;
    if (this.#output.hasCrash || this.#strayOutput?.hasCrash) return 'its process crashed';
    return this.records.length === 0 ? 'none of its tests ran' : null;
  }

  #packageFailure(buildOutput: string | null): Omit<ParsedFailure, 'attempt'> {
    if (buildOutput !== null || this.#isBuildFailed)
      return { type: 'build failed', message: (buildOutput ?? this.#output.text()) || null, stacktrace: null };
    const says = (output: Output): boolean => output.hasCrash || output.hasRace;
    const stray = says(this.#output) ? null : this.#strayOutput;
    return failureOf({ output: stray ?? this.#output, failedSubtests: [] });
  }

  /** Benchmarks that pass have no end event, and tests have none if the process of the package dies. */
  #endUnfinished(isFailed: boolean, atMs: number | null): string[] {
    for (const test of [...this.#running.values()].reverse())
      if (test.stated) this.#endAsStated(test, test.stated);
      else if (test.hasBenchmarkResult) this.#end(test, 'passed');
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
    if (this.#crashedTest === null && wereRunning.size === 0)
      for (const test of innermostFirst)
        if (this.#running.has(test.name) && !test.isPaused) {
          this.#end(test, 'failed', undefined, exitOf(test, this.#output));
          this.#crashedTest ??= test.name;
        }
    if (timedOut && wereRunning.size > 0) this.#crashedTest ??= innermostFirst[0]?.name ?? null;
    return [...this.#running.keys()];
  }

  #endAsStated(test: Test, { status, seconds }: StatedResult): void {
    this.#end(test, status, seconds, status === 'failed' ? failureOf(test) : undefined);
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

/** `TestTotals/rounds/up` → `TestTotals` */
const rootOf = (name: string): string => name.split('/', 1)[0] ?? name;

const joined = (...texts: string[]): string | null => texts.filter((text) => text !== '').join('\n\n') || null;
