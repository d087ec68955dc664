/** From the elements of xUnit.net's XML to executions. */
import type { Axes } from '../../domain/axes.ts';
import { statusOfWord } from '../../domain/status-words.ts';
import { countOf, failureOf, nameOf } from '../dotnet.ts';
import { archOf, axesFrom, runtimeAxes } from '../environment.ts';
import { LongText } from '../long-text.ts';
import type { Report } from '../report.ts';
import { parseSeconds, parseTimestamp } from '../time.ts';
import type { XmlAttributes, XmlHandler } from '../xml.ts';

/** How many errors outside tests the receipt shows. */
const ERRORS_SHOWN_MAX = 5;
const ERROR_LENGTH_MAX = 500;
/** `xUnit.net 2.9.2.0`, `xUnit.net v3 1.0.1+abc`. */
const VERSION = /^xUnit\.net (?:v\d )?(\d{1,5}\.[\w.]{1,30})/;

/** A test, or an error outside of tests, that is open. */
interface Open {
  attributes: XmlAttributes;
  type: string | null;
  message: LongText;
  stacktrace: LongText;
}

export class XunitHandler implements XmlHandler {
  #test: Open | null = null;
  #error: Open | null = null;
  #isInFailure = false;
  /** Collects the text that is being read. */
  #text: LongText | null = null;
  /** When the tests of the assembly that is open ended so far; null if it does not say when it began. */
  #clockMs: number | null = null;
  #axes: Axes | undefined;
  /** The sum of all assemblies. */
  #announcedTests = 0;
  #announcedFailures = 0;
  #failedCount = 0;
  #errorCount = 0;

  constructor(readonly report: Report) {
    report.runner = { framework: 'xunit', frameworkVersion: null, language: null };
  }

  open(element: string, attributes: XmlAttributes): void {
    if (element === 'assembly') this.#openAssembly(attributes);
    else if (element === 'test') this.#test = openOf(attributes);
    else if (element === 'error') this.#error = openOf(attributes);
    else if (element === 'failure') this.#openFailure(attributes);
    else if (this.#isInFailure && element === 'message') this.#text = (this.#test ?? this.#error)?.message ?? null;
    else if (this.#isInFailure && element === 'stack-trace')
      this.#text = (this.#test ?? this.#error)?.stacktrace ?? null;
  }

  text(text: string): void {
    this.#text?.add(text);
  }

  close(element: string): void {
    if (element === 'message' || element === 'stack-trace') this.#text = null;
    else if (element === 'failure') this.#isInFailure = false;
    else if (element === 'test') {
      if (this.#test) this.#addTest(this.#test);
      this.#test = null;
    } else if (element === 'error') {
      if (this.#error) this.#warnOf(this.#error);
      this.#error = null;
    }
  }

  #openAssembly(attributes: XmlAttributes): void {
    this.#announcedTests += countOf(attributes.total) - countOf(attributes['not-run']);
    this.#announcedFailures += countOf(attributes.failed);
    const { 'run-date': date = '', 'run-time': time = '', 'start-rtf': started } = attributes;
    this.#clockMs = parseTimestamp(started ?? `${date}T${time}`);
    if (this.#clockMs !== null) this.report.noticeTime(this.#clockMs);
    const frameworkVersion = VERSION.exec(attributes['test-framework']?.slice(0, 100) ?? '')?.[1] ?? null;
    this.report.runner = { ...this.report.runner, frameworkVersion };
    this.#axes = axesOf(attributes);
  }

  #openFailure(attributes: XmlAttributes): void {
    this.#isInFailure = true;
    const open = this.#test ?? this.#error;
    if (open) open.type = attributes['exception-type'] ?? null;
  }

  #addTest({ attributes, type, message, stacktrace }: Open): void {
    this.report.count();
    const { name = '', type: className = '', method = '', result = '', time } = attributes;
    const durationSeconds = parseSeconds(time);
    const status = statusOfWord(result);
    if (status === 'failed') this.#failedCount++;
    const ownName = name || method;
    if (status === undefined || ownName === '') {
      const reason = ownName === '' ? 'the test has no name' : 'the test has an unknown result';
      this.report.reject(reason, ownName, durationSeconds);
      return;
    }
    if (this.#clockMs !== null) this.#clockMs += durationSeconds * 1000;
    const finishedAtMs = parseTimestamp(attributes['finish-rtf']) ?? this.#clockMs;
    const failure = failureOf(message.trimmed() ?? '', stacktrace.trimmed() ?? '');
    this.report.add({
      place: [className, ownName],
      name: nameOf(ownName, className),
      status,
      durationSeconds,
      finishedAtMs: finishedAtMs === null ? null : Math.round(finishedAtMs),
      filepath: attributes['source-file'] || null,
      function: method || null,
      isFlaky: false,
      isRetried: false,
      failures: status === 'failed' ? [{ ...failure, type: type || failure.type }] : [],
      // xUnit.net has no retries; what adds them writes the last attempt.
      listing: 'never',
      home: null,
      ...(this.#axes && { axes: this.#axes }),
    });
  }

  /** Such as of a fixture whose `Dispose` throws. */
  #warnOf({ attributes, message }: Open): void {
    const [line = ''] = (message.trimmed() ?? attributes.type ?? 'it failed').split('\n', 1);
    const name = attributes.name ? `${attributes.name.slice(0, ERROR_LENGTH_MAX)}: ` : '';
    if (++this.#errorCount <= ERRORS_SHOWN_MAX)
      this.report.warnOfTrouble(`The test run reports an error: ${name}${line.slice(0, ERROR_LENGTH_MAX)}`);
  }

  /** @param breakage how the report breaks off; null if it is complete */
  finish(breakage: string | null): void {
    if (breakage !== null) this.report.warnOfBreak(breakage);
    else if (this.#announcedFailures > this.#failedCount)
      this.report.warnOfTrouble(
        `The report counts ${this.#announcedFailures} failed tests and holds ${this.#failedCount}.`,
      );
    else if (this.#announcedTests > this.report.testCount)
      this.report.warnOfTrouble(`The report counts ${this.#announcedTests} tests and holds ${this.report.testCount}.`);
  }
}

const openOf = (attributes: XmlAttributes): Open => ({
  attributes,
  type: null,
  message: new LongText(),
  stacktrace: new LongText(),
});

/**
 * `.NETCoreApp,Version=v8.0` is the target that the project names, so all of its version counts; else
 * `64-bit (x64) .NET 8.0.11 [collection-per-class]` tells what ran it.
 */
function axesOf({ 'target-framework': target = '', environment = '' }: XmlAttributes): Axes | undefined {
  const told = environment.slice(0, ENVIRONMENT_LENGTH_MAX);
  const dotnet = /,Version=v(\d{1,4}(?:\.\d{1,4}){0,3})/i.exec(target.slice(0, ENVIRONMENT_LENGTH_MAX))?.[1];
  const arch = archOf(/^\d{2}-bit \((\w{1,10})\)/.exec(told)?.[1] ?? '');
  const runtime = /\.NET (?:Core |Framework )?(\d\S{0,30})/.exec(told)?.[1] ?? '';
  return axesFrom({ arch }, dotnet ? { dotnet } : (runtimeAxes('.net', runtime) ?? {}));
}

const ENVIRONMENT_LENGTH_MAX = 200;
