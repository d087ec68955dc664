/**
 * From the elements of Robot Framework's output to executions. The file is written while the tests run, so what a suite
 * makes of its tests in the end, by a teardown that fails, is applied here, as Robot Framework itself does when it reads
 * the file.
 */

import { joinedAxes } from '../../domain/axes.ts';
import { DETAIL_BYTES_MAX } from '../../domain/limits.ts';
import type { Status } from '../../domain/status.ts';
import { cleanText, cutText } from '../../domain/text.ts';
import { FILES_MAX, type ReportedFile } from '../attachments.ts';
import { axesFrom, osOf, runtimeAxes } from '../environment.ts';
import { LongText } from '../long-text.ts';
import { type NamePath, pathWithin } from '../path.ts';
import { cutFailure, type Report, type ReportedRecord, TOO_LONG_NAME } from '../report.ts';
import { typedMessage } from '../typed-message.ts';
import type { ParsedFailure } from '../upload.ts';
import type { XmlAttributes, XmlHandler } from '../xml.ts';
import { mergedRuns } from './merged.ts';
import { timingOf } from './time.ts';

/** A suite that is open. */
interface Suite {
  path: NamePath;
  /** The names of the suites, with points between them. */
  text: string;
  file: string | null;
  /** The number of records before it. */
  recordsBefore: number;
  /** Its own teardown, once that has ended otherwise than it should. */
  teardown: Ended | null;
}

/** A `<status>`, and the text in it. */
interface Ended {
  attributes: XmlAttributes;
  message: LongText;
}

const STATUSES: Readonly<Record<string, Status>> = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' };
/** How many errors outside of tests the receipt shows. */
const ERRORS_SHOWN_MAX = 5;
const ERROR_LENGTH_MAX = 500;

export class RobotHandler implements XmlHandler {
  /** The elements that are open. */
  readonly #path: string[] = [];
  readonly #suites: Suite[] = [];
  readonly #records: ReportedRecord[] = [];
  #testName = '';
  #status: Ended | null = null;
  #isTeardown = false;
  /** Collects the text that is being read. */
  #text: LongText | null = null;
  /** A message in HTML that is open. */
  #html: LongText | null = null;
  /** Those of the open test. */
  #files: ReportedFile[] = [];
  #isParseError = false;
  #errorCount = 0;

  constructor(readonly report: Report) {}

  open(element: string, attributes: XmlAttributes): void {
    const around = this.#path.at(-1);
    this.#path.push(element);
    if (element === 'suite') this.#openSuite(attributes);
    else if (element === 'test') this.#openTest(attributes);
    else if (element === 'status') this.#openStatus(around, attributes);
    else if (element === 'kw' && around === 'suite')
      this.#isTeardown = (attributes.type ?? '').toUpperCase() === 'TEARDOWN';
    else if (element === 'msg' && /^(?:true|yes)$/.test(attributes.html ?? '') && this.#isInTest())
      this.#html = new LongText();
    else if (element === 'msg' && around === 'errors' && attributes.level === 'ERROR') this.#text = new LongText();
    else if (element === 'robot') this.#readGenerator(attributes);
  }

  text(text: string): void {
    (this.#html ?? this.#text)?.add(text);
  }

  close(element: string): void {
    this.#path.pop();
    if (element === 'test') this.#closeTest();
    else if (element === 'suite') this.#closeSuite();
    else if (element === 'msg' && this.#text && this.#path.at(-1) === 'errors') this.#warnOf(this.#text);
    if (element === 'msg' && this.#html) this.#closeHtml(this.#html);
    else if (element === 'msg' || element === 'status') this.#text = null;
  }

  #isInTest(): boolean {
    return this.#path.includes('test');
  }

  /** A message in HTML shows screenshots of a browser, and links to what was saved. */
  #closeHtml(html: LongText): void {
    this.#html = null;
    if (this.#files.length < FILES_MAX) this.#files.push(...filesInHtml(html.trimmed() ?? ''));
  }

  /** `Robot 7.5 (Python 3.14.2 on linux)`, or `Rebot …`, which may run on another machine than the tests. */
  #readGenerator({ generator = '' }: XmlAttributes): void {
    const version = /^Re?o?bot (\d[\w.]{0,50})/.exec(generator)?.[1] ?? null;
    this.report.runner = { framework: 'robot', frameworkVersion: version, language: null };
    const [, runtime = '', runtimeVersion = '', os = ''] =
      /^Robot \S{1,50} \((\w{1,20}) (\S{1,50}) on (\S{1,50})\)/.exec(generator) ?? [];
    this.report.axes = joinedAxes(axesFrom({ os: osOf(os) }), runtimeAxes(runtime, runtimeVersion));
  }

  #openSuite({ name = '', source }: XmlAttributes): void {
    const around = this.#suites.at(-1);
    this.#suites.push({
      path: pathWithin(around?.path ?? [], name),
      text: [around?.text ?? '', name.slice(0, TOO_LONG_NAME)]
        .filter((part) => part !== '')
        .join('.')
        .slice(0, TOO_LONG_NAME),
      // Cut here, once, and not for each of its tests.
      file: source ? cutText(source, DETAIL_BYTES_MAX) : null,
      recordsBefore: this.#records.length,
      teardown: null,
    });
  }

  #openTest({ name = '' }: XmlAttributes): void {
    this.report.count();
    this.#testName = name;
    this.#files = [];
    this.#status = null;
  }

  /** Keywords and loops have one, too: only that of a test, and of a suite's own teardown, says how tests ended. */
  #openStatus(around: string | undefined, attributes: XmlAttributes): void {
    const isOfSuiteKeyword = around === 'kw' && this.#path.at(-3) === 'suite';
    if (around !== 'test' && !(isOfSuiteKeyword && this.#isTeardown)) return;
    this.#text = new LongText();
    const ended = { attributes, message: this.#text };
    const suite = this.#suites.at(-1);
    if (around === 'test') this.#status = ended;
    else if (suite && /^(?:FAIL|SKIP)$/.test(attributes.status ?? '')) suite.teardown = ended;
  }

  #closeTest(): void {
    const suite = this.#suites.at(-1);
    const name = this.#testName;
    const { attributes, message } = this.#status ?? { attributes: {}, message: new LongText() };
    const { startedAtMs, durationSeconds } = timingOf(attributes);
    const status = STATUSES[attributes.status ?? ''];
    if (name === '' || status === undefined) {
      this.report.reject(
        name === '' ? 'the test has no name' : 'the test has no status that is known',
        name,
        durationSeconds,
      );
      return;
    }
    if (startedAtMs !== null) this.report.noticeTime(startedAtMs);
    const text = message.trimmed();
    const runs = text === null ? [] : mergedRuns(text);
    const failed = runs.filter((run) => run.status === 'failed');
    const messages = runs.length > 0 ? failed.map((run) => run.message) : status === 'failed' ? [text] : [];
    this.#records.push({
      place: [suite?.path ?? [], name],
      name: suite ? `${suite.text}.${name}` : name,
      status,
      durationSeconds,
      finishedAtMs: startedAtMs === null ? null : Math.round(startedAtMs + durationSeconds * 1000),
      filepath: suite?.file ?? null,
      function: name,
      isFlaky: status === 'passed' && failed.length > 0,
      isRetried: runs.length > 1,
      failures: messages.map((one, i) => failureOf(i + 1, one)),
      files: this.#files,
      // Names are unique in a suite; a test that was run again has its earlier runs in its message.
      listing: 'never',
      home: { suites: [], file: suite?.file ?? null, project: null, className: suite?.text ?? null, ownName: name },
    });
  }

  #closeSuite(): void {
    const closed = this.#suites.pop();
    if (!closed?.teardown) return;
    const isFailed = closed.teardown.attributes.status === 'FAIL';
    const why = closed.teardown.message.trimmed() ?? '';
    const failure = failureOf(1, `Parent suite teardown failed:\n${why}`);
    for (let i = closed.recordsBefore; i < this.#records.length; i++) {
      const record = this.#records[i];
      if (!record || record.status === (isFailed ? 'failed' : 'skipped')) continue;
      if (!isFailed) this.#records[i] = { ...record, status: 'skipped' };
      else if (record.status === 'passed')
        this.#records[i] = {
          ...record,
          status: 'failed',
          isFlaky: false,
          failures: [...record.failures, { ...failure, attempt: record.failures.length + 1 }],
        };
    }
  }

  /** Errors of libraries and settings show in the tests; of a file that cannot be read there are none. */
  #warnOf(error: LongText): void {
    const text = cleanText((error.trimmed() ?? '').slice(0, ERROR_LENGTH_MAX));
    const sentence = `Robot Framework reports an error: ${text}`;
    if (++this.#errorCount > ERRORS_SHOWN_MAX && this.#isParseError) return;
    if (/^Parsing /.test(text)) {
      this.#isParseError = true;
      this.report.warnOfTrouble(sentence);
    } else if (this.#errorCount <= ERRORS_SHOWN_MAX) this.report.warn(sentence);
  }

  /** @param breakage how the report breaks off; null if it is complete */
  finish(breakage: string | null): void {
    for (const record of this.#records) this.report.add(record);
    if (breakage !== null) this.report.warnOfBreak(breakage);
  }
}

const LINKS = /<(?:img|a|video|source)\s[^>]{0,300}?\b(?:src|href)="([^"<>]{1,2048})"/gi;

/** Pictures within the report have no address. */
const filesInHtml = (html: string): ReportedFile[] =>
  [...html.matchAll(LINKS)].flatMap(([, path = '']) => (/^(?:data:|#)/i.test(path) ? [] : [{ path: unescaped(path) }]));

/** Paths in links are percent-encoded. */
function unescaped(path: string): string {
  const text = path.replaceAll('&amp;', '&');
  if (/^[a-z]+:/i.test(text)) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Robot Framework leaves out the types that say nothing. */
const failureOf = (attempt: number, message: string | null): ParsedFailure =>
  cutFailure({ attempt, ...typedMessage(message), stacktrace: null });
