/** From the elements of a JUnit report to executions. A test is kept only once its element is closed. */
import { DETAIL_BYTES_MAX, FAILURES_MAX } from '../../domain/limits.ts';
import type { Status } from '../../domain/status.ts';
import { cleanText, cutText } from '../../domain/text.ts';
import { LongText } from '../long-text.ts';
import { type NamePath, pathWithin } from '../path.ts';
import { cutFailure, type Report } from '../report.ts';
import { parseSeconds, parseTimestamp } from '../time.ts';
import type { ParsedFailure } from '../upload.ts';
import type { XmlAttributes, XmlHandler } from '../xml.ts';
import { type Announced, announcedBy, countedAround, missingOf, type Present, withTest } from './announced.ts';
import { finishTest, type SuiteClock, suiteClock } from './clock.ts';
import { runnerOf } from './framework.ts';

interface Suite {
  name: string;
  /** With the suites around it; made when its first test comes. */
  path: NamePath | null;
  file: string | null;
  clock: SuiteClock;
  announced: Announced;
  present: Present;
}

/**
 * Meaning of `status` and `result` for a test without a child element that says it. GoogleTest has `notrun`, and
 * `suppressed` for a disabled test.
 */
const STATED: ReadonlyMap<string, Status> = new Map([
  ['failed', 'failed'],
  ['failure', 'failed'],
  ['fail', 'failed'],
  ['error', 'failed'],
  ['errored', 'failed'],
  ['timeout', 'failed'],
  ['skipped', 'skipped'],
  ['ignored', 'skipped'],
  ['disabled', 'skipped'],
  ['notrun', 'skipped'],
  ['suppressed', 'skipped'],
]);

/** Warnings of one kind in a receipt. */
const WARNINGS_MAX = 5;
const SHOWN_LENGTH_MAX = 200;

/** A `<testcase>` that is open. */
interface Case {
  attributes: XmlAttributes;
  isFailed: boolean;
  isSkipped: boolean;
  hasFlakyAttempt: boolean;
  hasRerun: boolean;
  /** All of them; `failures` are those that are kept. */
  attempts: { failed: number; others: number };
  failures: ParsedFailure[];
}

/** An open element that describes a failed attempt, and its text so far. */
interface Attempt {
  attributes: XmlAttributes;
  text: LongText;
}

/** Meaning of each element within a test. */
const OUTCOMES: Readonly<Record<string, 'failed' | 'flaky' | 'rerun'>> = {
  failure: 'failed',
  error: 'failed',
  flakyFailure: 'flaky',
  flakyError: 'flaky',
  rerunFailure: 'rerun',
  rerunError: 'rerun',
};

/** Why a `<testcase>` is not an execution. */
const NAMELESS = 'the testcase has neither name nor classname';

export class JunitHandler implements XmlHandler {
  readonly #suites: Suite[] = [];
  #case: Case | null = null;
  #attempt: Attempt | null = null;
  #suiteErrors = 0;
  #missing = 0;
  /** Depth below the open attempt, to tell its own text from that of e.g. a `<system-out>` in it. */
  #foreign: string[] = [];

  constructor(readonly report: Report) {}

  open(element: string, attributes: XmlAttributes): void {
    if (this.#attempt) this.#foreign.push(element);
    else if (this.#case) this.#openInCase(element, attributes);
    else if (element === 'testcase') this.#openCase(attributes);
    else if (element === 'testsuite' || element === 'testsuites') this.#openSuite(element, attributes);
    else if (OUTCOMES[element] === 'failed') this.#attempt = { attributes, text: new LongText() };
  }

  /** Text or CDATA. Surefire puts the text of an attempt into a `<stackTrace>`. */
  text(text: string): void {
    if (this.#attempt && this.#foreign.every((element) => element === 'stackTrace')) this.#attempt.text.add(text);
  }

  close(element: string): void {
    if (this.#foreign.pop() !== undefined) return;
    if (this.#attempt) this.#closeAttempt();
    else if (this.#case) {
      if (element === 'testcase') this.#closeCase(this.#case);
    } else if (element === 'testsuite' || element === 'testsuites') this.#closeSuite();
  }

  /** A runner that crashes, cannot set up or stops early announces more than it has written down. */
  #closeSuite(): void {
    const closed = this.#suites.pop();
    if (!closed) return;
    const { announced, present } = closed;
    const around = this.#suites.at(-1);
    if (around) {
      const { tests, failures } = countedAround(announced, present);
      around.present.tests += tests;
      around.present.failures += failures;
    }
    for (const sentence of missingOf(shown(closed.name), announced, present))
      if (++this.#missing <= WARNINGS_MAX) this.report.warnOfTrouble(sentence);
  }

  /** An error that belongs to a suite, such as of its set-up: not a test, but the receipt shows it. */
  #closeSuiteError({ attributes, text }: Attempt): void {
    const suite = this.#suites.at(-1);
    if (suite) suite.present.failures++;
    if (++this.#suiteErrors > WARNINGS_MAX) return;
    const message =
      nonEmpty(attributes.message) ?? firstLine(text.trimmed()) ?? nonEmpty(attributes.type) ?? 'no message';
    this.report.warnOfTrouble(
      `The suite ${shown(suite?.name ?? '')} reports an error outside of its tests: ${shown(message)}`,
    );
  }

  #openSuite(element: string, attributes: XmlAttributes): void {
    if (this.report.runner.framework === null)
      this.report.runner = runnerOf(element, attributes.name) ?? this.report.runner;
    const around = this.#suites.at(-1);
    const timestampMs = this.#timeOf(attributes);
    this.#suites.push({
      // The root's name is left out: one report may be written with and without a root.
      name: element === 'testsuite' ? (attributes.name ?? '') : '',
      path: null,
      // Cut here, once, and not for each of its tests.
      file: cutDetail(nonEmpty(attributes.file)) ?? around?.file ?? null,
      clock: suiteClock(timestampMs, around?.clock),
      announced: announcedBy(attributes),
      present: { tests: 0, failures: 0 },
    });
  }

  #openCase(attributes: XmlAttributes): void {
    this.report.count();
    this.#case = {
      attributes,
      isFailed: false,
      isSkipped: false,
      hasFlakyAttempt: false,
      hasRerun: false,
      attempts: { failed: 0, others: 0 },
      failures: [],
    };
  }

  #openInCase(element: string, attributes: XmlAttributes): void {
    const open = this.#case;
    if (!open) return;
    const outcome = OUTCOMES[element];
    if (outcome === undefined) {
      if (element === 'skipped') open.isSkipped = true;
      return;
    }
    if (outcome === 'flaky') open.hasFlakyAttempt = true;
    else open.isFailed = true;
    open.attempts[outcome === 'failed' ? 'failed' : 'others']++;
    if (outcome === 'rerun') open.hasRerun = true;
    this.#attempt = { attributes, text: new LongText() };
  }

  #closeAttempt(): void {
    const attempt = this.#attempt;
    this.#attempt = null;
    const failures = this.#case?.failures;
    if (!attempt) return;
    if (!failures) {
      this.#closeSuiteError(attempt);
      return;
    }
    // One more than is kept, so that the receipt says that there were more.
    if (failures.length > FAILURES_MAX) return;
    const { attributes, text } = attempt;
    const stacktrace = text.trimmed();
    const message = nonEmpty(attributes.message) ?? nonEmpty(firstLine(stacktrace));
    failures.push(cutFailure({ attempt: failures.length + 1, type: nonEmpty(attributes.type), message, stacktrace }));
  }

  #closeCase({ attributes, failures, attempts, isFailed, isSkipped, hasFlakyAttempt, hasRerun }: Case): void {
    this.#case = null;
    const durationSeconds = parseSeconds(attributes.time);
    const clocks = this.#suites.map((suite) => suite.clock);
    const finishedAtMs = finishTest(this.#timeOf(attributes), durationSeconds, clocks);
    const status = isFailed ? 'failed' : isSkipped ? 'skipped' : hasFlakyAttempt ? 'passed' : statedStatus(attributes);
    const suite = this.#suites.at(-1);
    if (suite) {
      suite.present.tests += 1 + attempts.others;
      suite.present.failures += Math.max(attempts.failed + attempts.others, status === 'failed' ? 1 : 0);
      suite.announced = withTest(suite.announced, attributes);
    }
    const name = [attributes.classname, attributes.name].filter((part) => part).join('.');
    if (name === '') {
      this.report.reject(NAMELESS, '', durationSeconds);
      return;
    }
    this.report.add({
      place: [this.#path(), name],
      name,
      status,
      durationSeconds,
      finishedAtMs,
      filepath: nonEmpty(attributes.file) ?? this.#suites.at(-1)?.file ?? null,
      function: nonEmpty(attributes.name),
      isFlaky: hasFlakyAttempt && status === 'passed',
      isRetried: hasFlakyAttempt || hasRerun,
      failures,
    });
  }

  /** The names of the open suites. */
  #path(): NamePath {
    let path: NamePath = [];
    for (const suite of this.#suites) {
      suite.path ??= suite.name === '' ? path : pathWithin(path, suite.name);
      path = suite.path;
    }
    return path;
  }

  #timeOf({ timestamp }: XmlAttributes): number | null {
    const timeMs = parseTimestamp(timestamp);
    if (timeMs !== null) this.report.noticeTime(timeMs);
    return timeMs;
  }
}

const statedStatus = ({ status, result }: XmlAttributes): Status =>
  STATED.get(status?.trim().toLowerCase() ?? '') ?? STATED.get(result?.trim().toLowerCase() ?? '') ?? 'passed';

const shown = (text: string): string => cleanText(text.slice(0, SHOWN_LENGTH_MAX)) || '(without a name)';

const cutDetail = (text: string | null): string | null => text && cutText(text, DETAIL_BYTES_MAX);

const nonEmpty = (text: string | null | undefined): string | null => (text ? text : null);

function firstLine(text: string | null): string | null {
  if (text === null) return null;
  const end = text.indexOf('\n');
  return (end < 0 ? text : text.slice(0, end)).trim();
}
