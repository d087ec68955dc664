/**
 * From the elements of a JUnit report to executions (design §6 "JUnit mapping"). Knows nothing of XML's syntax: it is told
 * of elements as they open and close, and keeps a test only once its element is closed.
 */

import { MESSAGE_BYTES_MAX, STACKTRACE_BYTES_MAX } from '../../domain/limits.ts';
import type { Status } from '../../domain/status.ts';
import { cutText } from '../../domain/text.ts';
import { UploadTooLarge } from '../errors.ts';
import type { ParsedExecution, ParsedFailure } from '../upload.ts';
import { ReportClock, type SuiteClock } from './clock.ts';
import { type Framework, frameworkOf } from './framework.ts';
import { parseSeconds, parseTimestamp } from './time.ts';

export type XmlAttributes = Readonly<Record<string, string>>;

interface Suite {
  name: string;
  file: string | null;
  clock: SuiteClock;
}

/** A `<testcase>` that is open. */
interface Case {
  attributes: XmlAttributes;
  isFailed: boolean;
  isSkipped: boolean;
  hasFlakyAttempt: boolean;
  hasRerun: boolean;
  failures: ParsedFailure[];
}

/** An open element that tells of a failed attempt, and its text so far. */
interface Attempt {
  attributes: XmlAttributes;
  text: string[];
}

/** What each element within a test means. */
const OUTCOMES: Readonly<Record<string, 'failed' | 'flaky' | 'rerun'>> = {
  failure: 'failed',
  error: 'failed',
  flakyFailure: 'flaky',
  flakyError: 'flaky',
  rerunFailure: 'rerun',
  rerunError: 'rerun',
};

/** Why a `<testcase>` is no execution. */
const NAMELESS = 'the testcase has neither name nor classname';

export interface ReportSettings {
  source: string;
  executionsMax: number;
  reject(reason: string, name: string): void;
}

export class JunitReport {
  readonly executions: ParsedExecution[] = [];
  /** Seconds from the report's beginning to the end of each execution, by the durations alone. */
  readonly offsetsS: number[] = [];
  readonly clock = new ReportClock();
  framework: Framework | null = null;
  readonly #suites: Suite[] = [];
  readonly #ordinals = new Map<string, number>();
  #case: Case | null = null;
  #attempt: Attempt | null = null;
  /** Depth below the open attempt, to tell its own text from that of e.g. a `<system-out>` in it. */
  #foreign: string[] = [];
  #seenCount = 0;

  constructor(private readonly settings: ReportSettings) {}

  open(element: string, attributes: XmlAttributes): void {
    if (this.#attempt) this.#foreign.push(element);
    else if (this.#case) this.#openInCase(element, attributes);
    else if (element === 'testcase') this.#openCase(attributes);
    else if (element === 'testsuite' || element === 'testsuites') this.#openSuite(element, attributes);
  }

  /** Text or CDATA. Surefire puts the text of an attempt into a `<stackTrace>`. */
  text(text: string): void {
    if (this.#attempt && this.#foreign.every((element) => element === 'stackTrace')) this.#attempt.text.push(text);
  }

  close(element: string): void {
    if (this.#foreign.pop() !== undefined) return;
    if (this.#attempt) this.#closeAttempt();
    else if (this.#case) {
      if (element === 'testcase') this.#closeCase(this.#case);
    } else if (element === 'testsuite' || element === 'testsuites') this.#suites.pop();
  }

  #openSuite(element: string, attributes: XmlAttributes): void {
    this.framework ??= frameworkOf(element, attributes.name);
    const around = this.#suites.at(-1);
    this.#suites.push({
      // The root's name is left out: one report may be written with and without a root.
      name: element === 'testsuite' ? (attributes.name ?? '') : '',
      file: nonEmpty(attributes.file) ?? around?.file ?? null,
      clock: this.clock.suite(parseTimestamp(attributes.timestamp), around?.clock),
    });
  }

  #openCase(attributes: XmlAttributes): void {
    // Counted before the names are looked at: refused rows take time and room too.
    if (++this.#seenCount > this.settings.executionsMax)
      throw new UploadTooLarge(
        `The upload holds more than ${this.settings.executionsMax} tests. Send its reports in several uploads.`,
      );
    // GoogleTest writes a disabled test as one that was not run.
    const isSkipped =
      attributes.status === 'notrun' || attributes.status === 'disabled' || attributes.result === 'suppressed';
    this.#case = { attributes, isFailed: false, isSkipped, hasFlakyAttempt: false, hasRerun: false, failures: [] };
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
    if (outcome === 'rerun') open.hasRerun = true;
    this.#attempt = { attributes, text: [] };
  }

  #closeAttempt(): void {
    const { attributes, text } = this.#attempt ?? { attributes: {}, text: [] };
    this.#attempt = null;
    const failures = this.#case?.failures;
    const stacktrace = nonEmpty(text.join('').trim());
    const message = nonEmpty(attributes.message) ?? nonEmpty(firstLine(stacktrace));
    failures?.push({
      attempt: failures.length + 1,
      type: nonEmpty(attributes.type),
      // Cut at once: a report of a few MiB must not be held whole for one test.
      message: message && cutText(message, MESSAGE_BYTES_MAX),
      stacktrace: stacktrace && cutText(stacktrace, STACKTRACE_BYTES_MAX),
    });
  }

  #closeCase({ attributes, failures, isFailed, isSkipped, hasFlakyAttempt, hasRerun }: Case): void {
    this.#case = null;
    const durationSeconds = parseSeconds(attributes.time);
    const clocks = this.#suites.map((suite) => suite.clock);
    const { finishedAtMs, offsetS } = this.clock.finish(parseTimestamp(attributes.timestamp), durationSeconds, clocks);
    const name = [attributes.classname, attributes.name].filter((part) => part).join('.');
    if (name === '') {
      this.settings.reject(NAMELESS, '');
      return;
    }
    const status: Status = isFailed ? 'failed' : isSkipped ? 'skipped' : 'passed';
    this.offsetsS.push(offsetS);
    this.executions.push({
      source: this.settings.source,
      key: this.#keyOf(name),
      name,
      status,
      durationSeconds,
      finishedAtMs,
      filepath: nonEmpty(attributes.file) ?? this.#suites.at(-1)?.file ?? null,
      function: nonEmpty(attributes.name),
      isFlaky: hasFlakyAttempt && status === 'passed',
      isQuarantined: false,
      isRetried: hasFlakyAttempt || hasRerun,
      failures,
    });
  }

  /** Suite path, name, and how often both came before: so a name that is twice in a report is two executions (design §5). */
  #keyOf(name: string): string {
    const path = this.#suites.map((suite) => suite.name).filter((part) => part !== '');
    const place = JSON.stringify([path, name]);
    const ordinal = this.#ordinals.get(place) ?? 0;
    this.#ordinals.set(place, ordinal + 1);
    return JSON.stringify([path, name, ordinal]);
  }
}

const nonEmpty = (text: string | null | undefined): string | null => (text ? text : null);

function firstLine(text: string | null): string | null {
  if (text === null) return null;
  const end = text.indexOf('\n');
  return (end < 0 ? text : text.slice(0, end)).trim();
}
