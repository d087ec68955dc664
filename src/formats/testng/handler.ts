/** From the elements of TestNG's report to executions. Methods of a class are put together once the class is closed. */
import type { Status } from '../../domain/status.ts';
import { cleanText } from '../../domain/text.ts';
import { LongText } from '../long-text.ts';
import { type NamePath, pathWithin } from '../path.ts';
import { counted, cutFailure, type Report, TOO_LONG_NAME } from '../report.ts';
import { stableText } from '../stable-text.ts';
import { parseTimestamp } from '../time.ts';
import type { ParsedFailure } from '../upload.ts';
import type { XmlAttributes, XmlHandler } from '../xml.ts';
import { type Invocation, recordsOf } from './invocations.ts';

/** A `<test-method>` that is open. */
interface Method {
  attributes: XmlAttributes;
  parameters: string[];
  /** Characters of the parameters so far: a name that is too long is refused, however much longer it is. */
  parametersLength: number;
  exceptionType: string | null;
  message: LongText;
  stacktrace: LongText;
}

const STATUSES: Readonly<Record<string, Status>> = {
  PASS: 'passed',
  FAIL: 'failed',
  SKIP: 'skipped',
  // Some invocations of the method failed, as few as it allows.
  SUCCESS_PERCENTAGE_FAILURE: 'passed',
};
/** Warnings of one kind in a receipt. */
const WARNINGS_MAX = 5;
const SHOWN_LENGTH_MAX = 200;

export class TestngHandler implements XmlHandler {
  /** The names of the open `<suite>` and `<test>`. */
  readonly #suites: NamePath[] = [];
  #className = '';
  readonly #invocations: Invocation[] = [];
  #method: Method | null = null;
  /** Collects the text that is being read. */
  #text: LongText | null = null;
  #counts: XmlAttributes = {};
  #testCount = 0;
  #failedCount = 0;
  #failedConfigurations = 0;

  constructor(readonly report: Report) {
    report.runner = { framework: 'testng', frameworkVersion: null, language: 'java' };
  }

  open(element: string, attributes: XmlAttributes): void {
    const method = this.#method;
    if (element === 'testng-results') this.#counts = attributes;
    else if (element === 'suite' || element === 'test')
      this.#suites.push(pathWithin(this.#suites.at(-1) ?? [], attributes.name ?? ''));
    // The class of a group's method has a name, too, but no methods in it.
    else if (element === 'class') this.#className = (attributes.name ?? '').slice(0, TOO_LONG_NAME);
    else if (element === 'test-method') this.#openMethod(attributes);
    else if (method) this.#openInMethod(method, element, attributes);
  }

  text(text: string): void {
    this.#text?.add(text);
  }

  close(element: string): void {
    const text = this.#text;
    this.#text = null;
    if (element === 'value' && text) this.#addParameter(text.trimmed() ?? '');
    else if (element === 'test-method') this.#closeMethod();
    else if (element === 'class') this.#closeClass();
    else if (element === 'suite' || element === 'test') {
      this.#closeClass();
      this.#suites.pop();
    }
  }

  #openMethod(attributes: XmlAttributes): void {
    this.report.count();
    this.#method = {
      attributes,
      parameters: [],
      parametersLength: 0,
      exceptionType: null,
      message: new LongText(),
      stacktrace: new LongText(),
    };
  }

  #openInMethod(method: Method, element: string, attributes: XmlAttributes): void {
    if (element === 'value') {
      if (attributes['is-null'] === 'true') this.#addParameter('null');
      else this.#text = new LongText();
    } else if (element === 'exception') method.exceptionType = attributes.class || null;
    else if (element === 'message') this.#text = method.message;
    else if (element === 'full-stacktrace' || element === 'short-stacktrace') this.#text = method.stacktrace;
  }

  #addParameter(value: string): void {
    const method = this.#method;
    if (!method || method.parametersLength > TOO_LONG_NAME) return;
    const kept = value.slice(0, TOO_LONG_NAME);
    method.parameters.push(kept);
    method.parametersLength += kept.length + 1;
  }

  #closeMethod(): void {
    const method = this.#method;
    this.#method = null;
    if (!method) return;
    const { attributes, parameters } = method;
    const { name = '', signature = '', status: word = '' } = attributes;
    if (attributes['is-config'] === 'true') {
      if (word === 'FAIL') this.#warnOfConfiguration(name, method);
      return;
    }
    const durationSeconds = secondsOf(attributes['duration-ms']);
    const isRetried = attributes.retried === 'true';
    const status = STATUSES[word];
    if (status === 'failed') this.#failedCount++;
    this.#testCount++;
    if (name === '' || status === undefined) {
      const reason = name === '' ? 'the test-method has no name' : 'the test-method has no status that is known';
      this.report.reject(reason, name, durationSeconds);
      return;
    }
    const startedAtMs = parseTimestamp(attributes['started-at']);
    if (startedAtMs !== null) this.report.noticeTime(startedAtMs);
    this.#invocations.push({
      isRetried,
      signature,
      hasParameters: parameters.length > 0,
      ownName: nameOf(name, parameters),
      instance: stableText(attributes['test-instance-name'] ?? attributes['instance-name'] ?? ''),
      record: {
        status,
        durationSeconds,
        finishedAtMs: startedAtMs === null ? null : Math.round(startedAtMs + durationSeconds * 1000),
        filepath: null,
        function: name,
        isFlaky: false,
        isRetried: false,
        failures: status === 'failed' || isRetried ? [failureOf(method)] : [],
        listing: 'never',
      },
    });
  }

  /** The methods that it was for are skipped, or fail with it. */
  #warnOfConfiguration(name: string, method: Method): void {
    if (++this.#failedConfigurations > WARNINGS_MAX) return;
    const { message, type } = failureOf(method);
    this.report.warnOfTrouble(`The configuration method ${shown(name)} failed: ${shown(message ?? type ?? '')}`);
  }

  #closeClass(): void {
    const suites = this.#suites.at(-1) ?? [];
    for (const { record, ownName, instance } of recordsOf(this.#invocations.splice(0))) {
      const className = classNameOf(this.#className, instance);
      this.report.add({
        ...record,
        place: [suites, className, ownName],
        name: className === '' ? ownName : `${className}.${ownName}`,
        home: { suites, file: null, project: null, className, ownName },
      });
    }
  }

  /** @param breakage how the report breaks off; null if it is complete */
  finish(breakage: string | null): void {
    this.#closeClass();
    if (breakage !== null) {
      this.report.warnOfBreak(breakage);
      return;
    }
    const failed = countOf(this.#counts.failed);
    // Methods that are disabled count, but are not listed.
    const total = countOf(this.#counts.total) - countOf(this.#counts.ignored);
    if (failed > this.#failedCount)
      this.report.warnOfTrouble(
        `The report counts ${counted(failed, 'failed method')}, and holds ${this.#failedCount}.`,
      );
    else if (total > this.#testCount)
      this.report.warnOfTrouble(`The report counts ${counted(total, 'method')}, and holds ${this.#testCount}.`);
  }
}

/** `rows(2, a)` */
const nameOf = (method: string, values: readonly string[]): string =>
  values.length === 0 ? method : `${method}(${values.map(stableText).join(', ')})`.slice(0, TOO_LONG_NAME);

/** With the name that tells the objects of a factory apart, if the class gives one. */
const classNameOf = (className: string, instance: string): string =>
  instance === '' || instance === className ? className : `${className}[${instance}]`.slice(0, TOO_LONG_NAME);

function failureOf({ exceptionType, message, stacktrace }: Method): ParsedFailure {
  const trace = stacktrace.trimmed();
  return cutFailure({
    attempt: 1,
    type: exceptionType,
    message: message.trimmed() ?? trace?.split('\n', 1)[0] ?? null,
    stacktrace: trace,
  });
}

const secondsOf = (text: string | undefined): number => (/^\d{1,15}$/.test(text ?? '') ? Number(text) / 1000 : 0);

const countOf = (text: string | undefined): number => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : 0);

const shown = (text: string): string => cleanText(text.slice(0, SHOWN_LENGTH_MAX)) || '(without a name)';
