/**
 * From the elements of a TRX report to executions. A result refers to its test by id. The definition of the test, which
 * names its class, may come before or after the results, so executions are put together at the end.
 */
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { TRX_DEFINITIONS_MAX } from '../../domain/limits.ts';
import type { Status } from '../../domain/status.ts';
import { FILES_MAX } from '../attachments.ts';
import { countOf, failureOf, nameOf, parseTime } from '../dotnet.ts';
import { UploadTooLarge } from '../errors.ts';
import { LongText } from '../long-text.ts';
import { counted, type Report, TOO_LONG_NAME } from '../report.ts';
import { parseSeconds } from '../time.ts';
import type { ParsedFailure } from '../upload.ts';
import type { XmlAttributes, XmlHandler } from '../xml.ts';
import { withoutAssembly } from './class-name.ts';
import { statusOf } from './outcome.ts';
import { type FailedResults, saysOnlyThatTestsFailed } from './run-errors.ts';

const RESULTS: ReadonlySet<string> = new Set([
  'UnitTestResult',
  'TestResult',
  'TestResultAggregation',
  'GenericTestResult',
  'ManualTestResult',
  'WebTestResult',
]);
/** How many errors outside tests the receipt shows. */
const RUN_ERRORS_SHOWN_MAX = 5;
const RUN_ERROR_LENGTH_MAX = 500;
const RUN_ERROR_KEPT_LENGTH = 2_000;
/** An adapter may report every failed test as an error of the run; more are taken for errors. */
const RUN_ERRORS_KEPT_MAX = 20_000;
/** Counters of results that count as failed here. */
const FAILED_COUNTERS = ['failed', 'error', 'timeout', 'aborted', 'disconnected'] as const;
/** Ends of a run that did not come to its end. */
const CUT_SHORT: ReadonlySet<string> = new Set(['Aborted', 'Timeout', 'Disconnected', 'InProgress']);

/** A result that is open. */
interface OpenResult {
  attributes: XmlAttributes;
  message: LongText;
  stacktrace: LongText;
  /**
   * Whether it only sums up the rows of a data-driven test or the steps of an ordered one, which are the executions.
   */
  hasInner: boolean;
  files: string[];
}

/** A result whose test may not be defined yet. */
interface Result {
  executionId: string;
  testId: string;
  testName: string;
  status: Status;
  durationSeconds: number;
  finishedAtMs: number | null;
  failure: ParsedFailure | null;
  /** The folder of its files, and their paths within it. */
  folder: string;
  files: readonly string[];
}

interface Definition {
  className: string;
  method: string;
}

export class TrxHandler implements XmlHandler {
  readonly #results: Result[] = [];
  /** Ids of results that sum up others, which may also be siblings. */
  readonly #parentIds = new Set<string>();
  readonly #definitions = new Map<string, Definition>();
  readonly #openResults: OpenResult[] = [];
  /** The id of the test whose definition is open. */
  #definedId: string | null = null;
  #isInErrorInfo = false;
  #isInRunError = false;
  readonly #runErrors: string[] = [];
  #runErrorCount = 0;
  /** Results of any kind, also those that sum up others, and those of them that failed. */
  #resultCount = 0;
  #failedCount = 0;
  /** The counts of the summary. */
  #counters: XmlAttributes = {};
  #outcome = '';
  /** The folder of the run's files. */
  #deployment = '';
  /** Collects the text that is being read. */
  #text: LongText | null = null;

  constructor(readonly report: Report) {}

  open(element: string, attributes: XmlAttributes): void {
    if (RESULTS.has(element)) this.#openResult(attributes);
    else if (element === 'ErrorInfo') this.#isInErrorInfo = true;
    else if (element === 'Message' || element === 'StackTrace') this.#openErrorText(element);
    else if (element === 'UnitTest') this.#definedId = attributes.id ?? null;
    else if (element === 'TestMethod') this.#define(attributes);
    else if (element === 'ResultFile') this.#noticeFile(attributes.path);
    else if (element === 'Deployment') this.#deployment = attributes.runDeploymentRoot ?? '';
    else if (element === 'Times') this.#noticeTime(parseTime(attributes.start));
    else if (element === 'RunInfo') this.#isInRunError = /^(?:Error|Failed)$/.test(attributes.outcome ?? '');
    else if (element === 'Text' && this.#isInRunError) this.#text = new LongText();
    else if (element === 'Counters') this.#counters = attributes;
    else if (element === 'ResultSummary') this.#outcome = attributes.outcome ?? '';
  }

  text(text: string): void {
    this.#text?.add(text);
  }

  close(element: string): void {
    if (RESULTS.has(element)) this.#closeResult();
    else if (element === 'ErrorInfo') this.#isInErrorInfo = false;
    else if (element === 'Text' && this.#isInRunError) this.#keepRunError(this.#text?.trimmed() ?? '');
    if (element === 'Text' || element === 'Message' || element === 'StackTrace') this.#text = null;
  }

  #openResult(attributes: XmlAttributes): void {
    const around = this.#openResults.at(-1);
    if (around) around.hasInner = true;
    this.#openResults.push({
      attributes,
      message: new LongText(),
      stacktrace: new LongText(),
      hasInner: false,
      files: [],
    });
  }

  /** The output of a test is in `<Message>` elements too, but not in `<ErrorInfo>`. */
  #openErrorText(element: 'Message' | 'StackTrace'): void {
    const result = this.#openResults.at(-1);
    if (result && this.#isInErrorInfo) this.#text = element === 'Message' ? result.message : result.stacktrace;
  }

  #noticeFile(path = ''): void {
    const files = this.#openResults.at(-1)?.files;
    if (files && path !== '' && files.length < FILES_MAX) files.push(path);
  }

  #closeResult(): void {
    const closed = this.#openResults.pop();
    if (!closed) return;
    this.#resultCount++;
    if (statusOf(closed.attributes.outcome) === 'failed') this.#failedCount++;
    if (closed.hasInner) return;
    this.report.count();
    const { attributes, message, stacktrace, files } = closed;
    const { executionId = '', testId = '', testName = '', outcome, duration, startTime, endTime } = attributes;
    const status = statusOf(outcome);
    const durationSeconds = parseSeconds(duration);
    if (status === null) {
      this.report.reject('the result has an unknown outcome', testName, durationSeconds);
      return;
    }
    if (attributes.parentExecutionId) this.#parentIds.add(attributes.parentExecutionId);
    const startedAtMs = parseTime(startTime);
    this.#noticeTime(startedAtMs);
    this.#results.push({
      executionId,
      testId,
      testName,
      status,
      durationSeconds,
      finishedAtMs: parseTime(endTime) ?? (startedAtMs === null ? null : startedAtMs + durationSeconds * 1000),
      failure: status === 'failed' ? failureOf(message.trimmed() ?? '', stacktrace.trimmed() ?? '') : null,
      folder: attributes.relativeResultsDirectory ?? executionId,
      files,
    });
  }

  #noticeTime(timeMs: number | null): void {
    if (timeMs !== null) this.report.noticeTime(timeMs);
  }

  #define({ className = '', name = '', adapterTypeName }: XmlAttributes): void {
    const id = this.#definedId;
    if (id === null || this.#definitions.has(id)) return;
    if (this.#definitions.size >= TRX_DEFINITIONS_MAX)
      throw new UploadTooLarge(UPLOAD_LIMITS.TRX_DEFINITIONS_MAX.sentence());
    this.#definitions.set(id, {
      className: withoutAssembly(className).slice(0, TOO_LONG_NAME),
      method: name.slice(0, TOO_LONG_NAME),
    });
    this.report.runner.framework ??= frameworkOf(adapterTypeName);
  }

  #keepRunError(text: string): void {
    if (text === '') return;
    this.#runErrorCount++;
    if (this.#runErrors.length < RUN_ERRORS_KEPT_MAX) this.#runErrors.push(text.slice(0, RUN_ERROR_KEPT_LENGTH));
  }

  /** The errors of the run that say more than that tests failed. */
  #warnOfRunErrors(): void {
    if (this.#runErrorCount === 0) return;
    const failed = this.#failedResults();
    const errors = this.#runErrors.filter((text) => !saysOnlyThatTestsFailed(text, failed));
    for (const text of errors.slice(0, RUN_ERRORS_SHOWN_MAX))
      this.report.warnOfTrouble(`The test run reports an error: ${text.slice(0, RUN_ERROR_LENGTH_MAX)}`);
    if (this.#runErrorCount > this.#runErrors.length)
      this.report.warnOfTrouble(`The test run reports ${this.#runErrorCount} errors, of which not all can be read.`);
  }

  #failedResults(): FailedResults {
    const names = new Set<string>();
    const classes = new Set<string>();
    for (const result of this.#results) {
      if (result.status !== 'failed') continue;
      const className = this.#definitions.get(result.testId)?.className ?? '';
      const name = nameOf(result.testName, className);
      names.add(result.testName).add(name).add(onOneLine(name));
      if (className !== '') classes.add(className);
    }
    return { names, classes };
  }

  /** Converters and filters lose results; a run that is ended from outside never has them. */
  #warnOfMissing(): void {
    const counted = FAILED_COUNTERS.reduce((sum, name) => sum + countOf(this.#counters[name]), 0);
    const total = countOf(this.#counters.total);
    if (counted > this.#failedCount)
      this.report.warnOfTrouble(`The report counts ${counted} failed results and holds ${this.#failedCount}.`);
    else if (total > this.#resultCount)
      this.report.warnOfTrouble(`The report counts ${total} results and holds ${this.#resultCount}.`);
    if (CUT_SHORT.has(this.#outcome))
      this.report.warnOfTrouble(`The test run did not come to its end: its outcome is ${this.#outcome}.`);
  }

  /** @param breakage how the report breaks off; null if it is complete */
  finish(breakage: string | null): void {
    let undefinedCount = 0;
    for (const result of this.#results) {
      if (this.#parentIds.has(result.executionId)) continue;
      const definition = this.#definitions.get(result.testId);
      // Without its class, the test would have a different name and be a different test.
      if (breakage !== null && !definition) undefinedCount++;
      else this.#add(result, definition);
    }
    this.#warnOfRunErrors();
    if (breakage === null) this.#warnOfMissing();
    else this.report.warnOfBreak(breakage);
    if (undefinedCount > 0)
      this.report.warnOfTrouble(
        `${counted(undefinedCount, 'more result')} cannot be kept: the report breaks off before it names the class.`,
      );
  }

  #add({ testName, failure, folder, files, ...result }: Result, definition: Definition | undefined): void {
    const { className = '', method = '' } = definition ?? {};
    const ownName = testName || method;
    if (ownName === '') {
      this.report.reject('the result has no test name', '', result.durationSeconds);
      return;
    }
    this.report.add({
      place: [className, ownName],
      name: nameOf(ownName, className),
      status: result.status,
      durationSeconds: result.durationSeconds,
      finishedAtMs: result.finishedAtMs === null ? null : Math.round(result.finishedAtMs),
      filepath: null,
      function: method.split('(', 1)[0] || null,
      isFlaky: false,
      isRetried: false,
      failures: failure ? [failure] : [],
      // Where `dotnet test` puts them, beside the report.
      files: files.map((path) => ({ path: isWhole(path) ? path : `${this.#deployment}/In/${folder}/${path}` })),
      // Runners that try again write the last attempt, or a report for each.
      listing: 'never',
      home: null,
    });
  }
}

const isWhole = (path: string): boolean => /^(?:[\\/]|[a-z][a-z\d+.-]*:)/i.test(path);

/** xUnit shows a name with line breaks like this in an error of the run. */
const onOneLine = (name: string): string =>
  name.replaceAll('\r', '\\r').replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** `executor://mstestadapter/v2` → `mstest`; null for an unknown adapter. */
function frameworkOf(adapter = ''): string | null {
  if (/mstest|TestTypes\.Unit\.UnitTestAdapter/i.test(adapter)) return 'mstest';
  if (/nunit/i.test(adapter)) return 'nunit';
  return /xunit/i.test(adapter) ? 'xunit' : null;
}
