/** From the elements of NUnit's XML to executions. */
import type { Axes } from '../../domain/axes.ts';
import { statusOfWord } from '../../domain/status-words.ts';
import { FILES_MAX, type ReportedFile } from '../attachments.ts';
import { countOf, failureOf, nameOf, parseTime } from '../dotnet.ts';
import { archOf, axesFrom, osOf, runtimeAxes } from '../environment.ts';
import { LongText } from '../long-text.ts';
import type { Report } from '../report.ts';
import { parseSeconds } from '../time.ts';
import type { XmlAttributes, XmlHandler } from '../xml.ts';

/** How many errors of suites the receipt shows. */
const ERRORS_SHOWN_MAX = 5;
const ERROR_LENGTH_MAX = 500;

/** Elements whose text is read. */
const TEXTS: ReadonlySet<string> = new Set(['message', 'stack-trace', 'filePath', 'description']);

/** A suite or a test that is open. */
interface Open {
  element: 'test-suite' | 'test-case';
  attributes: XmlAttributes;
  message: LongText;
  stacktrace: LongText;
  /** Failed tests of the report when it began. */
  failedBefore: number;
  files: ReportedFile[];
}

export class NunitHandler implements XmlHandler {
  readonly #open: Open[] = [];
  /** The element whose texts are the failure: `failure`, or `reason` of a suite that cannot run. */
  #cause: string | null = null;
  /** Collects the text that is being read. */
  #text: LongText | null = null;
  /** The attachment that is open. */
  #file: { path: LongText; name: LongText } | null = null;
  /** The counts of the whole run. */
  #counters: XmlAttributes = {};
  /** The axes of the assembly that is open. */
  #axes: Axes | undefined;
  #failedCount = 0;
  #errorCount = 0;

  constructor(readonly report: Report) {
    report.runner = { framework: 'nunit', frameworkVersion: null, language: null };
  }

  open(element: string, attributes: XmlAttributes): void {
    if (element === 'test-run') this.#openRun(attributes);
    else if (element === 'test-suite' || element === 'test-case')
      this.#open.push({
        element,
        attributes,
        message: new LongText(),
        stacktrace: new LongText(),
        failedBefore: this.#failedCount,
        files: [],
      });
    else if (element === 'attachment') this.#file = { path: new LongText(), name: new LongText() };
    else if (element === 'filePath') this.#text = this.#file?.path ?? null;
    else if (element === 'description' && this.#file) this.#text = this.#file.name;
    else if (element === 'environment') this.#axes = axesOf(attributes);
    else if (element === 'failure' || element === 'reason') this.#cause = element;
    else if (this.#cause !== null && element === 'message') this.#text = this.#open.at(-1)?.message ?? null;
    else if (this.#cause !== null && element === 'stack-trace') this.#text = this.#open.at(-1)?.stacktrace ?? null;
  }

  text(text: string): void {
    this.#text?.add(text);
  }

  close(element: string): void {
    if (TEXTS.has(element)) this.#text = null;
    else if (element === 'attachment') this.#closeFile();
    else if (element === this.#cause) this.#cause = null;
    else if (element === 'test-case' || element === 'test-suite') {
      const closed = this.#open.pop();
      if (closed?.element === 'test-case') this.#addTest(closed);
      else if (closed) this.#closeSuite(closed);
    }
  }

  #closeFile(): void {
    const path = this.#file?.path.trimmed() ?? null;
    const files = this.#open.at(-1)?.files;
    if (path !== null && files && files.length < FILES_MAX) files.push({ path, name: this.#file?.name.trimmed() });
    this.#file = null;
  }

  #openRun(attributes: XmlAttributes): void {
    this.#counters = attributes;
    const startedAtMs = parseTime(attributes['start-time']);
    if (startedAtMs !== null) this.report.noticeTime(startedAtMs);
  }

  #addTest({ attributes, message, stacktrace, files }: Open): void {
    this.report.count();
    const { fullname = '', name = '', classname: className = '', methodname = '', result = '', duration } = attributes;
    const testName = fullname || (name && nameOf(name, className));
    const durationSeconds = parseSeconds(duration ?? attributes.time);
    const status = statusOfWord(result);
    if (status === 'failed') this.#failedCount++;
    if (status === undefined || testName === '') {
      const reason = testName === '' ? 'the test case has no name' : 'the test case has an unknown result';
      this.report.reject(reason, testName, durationSeconds);
      return;
    }
    const startedAtMs = parseTime(attributes['start-time']);
    if (startedAtMs !== null) this.report.noticeTime(startedAtMs);
    this.report.add({
      place: [className, testName],
      name: testName,
      status,
      durationSeconds,
      finishedAtMs: parseTime(attributes['end-time']),
      filepath: null,
      function: methodname || null,
      isFlaky: false,
      isRetried: false,
      failures: status === 'failed' ? [failureOf(message.trimmed() ?? '', stacktrace.trimmed() ?? '')] : [],
      // `Retry` writes the last attempt.
      listing: 'never',
      home: null,
      files,
      ...(this.#axes && { axes: this.#axes }),
    });
  }

  /** A suite whose set-up fails fails its tests, too; if its tear-down does, only the suite says it. */
  #closeSuite({ attributes, message, failedBefore }: Open): void {
    const { result = '', site = 'Test', fullname = '', name = '' } = attributes;
    if (statusOfWord(result) !== 'failed' || site === 'Child' || site === 'Parent') return;
    if (site !== 'TearDown' && this.#failedCount > failedBefore) return;
    const [line = ''] = (message.trimmed() ?? 'it failed').split('\n', 1);
    if (++this.#errorCount <= ERRORS_SHOWN_MAX)
      this.report.warnOfTrouble(
        `The suite ${(fullname || name).slice(0, ERROR_LENGTH_MAX)} reports an error outside of its tests: ${line.slice(0, ERROR_LENGTH_MAX)}`,
      );
  }

  /** @param breakage how the report breaks off; null if it is complete */
  finish(breakage: string | null): void {
    if (breakage !== null) this.report.warnOfBreak(breakage);
    else {
      const [failed, total] = [countOf(this.#counters.failed), countOf(this.#counters.total)];
      if (failed > this.#failedCount && this.#errorCount === 0)
        this.report.warnOfTrouble(`The report counts ${failed} failed tests and holds ${this.#failedCount}.`);
      else if (total > this.report.testCount)
        this.report.warnOfTrouble(`The report counts ${total} tests and holds ${this.report.testCount}.`);
    }
  }
}

/** Versions of the system and names of machines differ from run to run. */
const axesOf = (told: XmlAttributes): Axes | undefined =>
  axesFrom(
    { os: osOf(told['os-version'] ?? '') ?? osOf(told.platform ?? ''), arch: archOf(told['os-architecture'] ?? '') },
    runtimeAxes('.net', told['clr-version'] ?? '') ?? {},
  );
