/** A report while it is parsed: counts its tests, and gives each execution a key and a time. */

import type { AttachmentsPlace } from '../domain/attachments.ts';
import { type Axes, axesText, joinedAxes } from '../domain/axes.ts';
import type { Run } from '../domain/columns.ts';
import { UPLOAD_LIMITS } from '../domain/limit-table.ts';
import {
  MESSAGE_BYTES_MAX,
  STACKTRACE_BYTES_MAX,
  TEST_NAME_LENGTH_MAX,
  UPLOAD_NAMES_LENGTH_MAX,
} from '../domain/limits.ts';
import type { Home } from '../domain/namesakes.ts';
import { type Listing, type Part, settled, type TestRecord } from '../domain/records.ts';
import { cleanText, cutText } from '../domain/text.ts';
import { AttachmentLinks, type ReportedFailure, type ReportedFile } from './attachments.ts';
import { UploadCollector } from './collect.ts';
import { UploadTooLarge } from './errors.ts';
import type { ParsedExecution, ParsedFailure, ParsedRun, ParsedUpload } from './upload.ts';

/**
 * A record of a report: what it says of one start of a test. Reports do not say whether a test is quarantined. What
 * several records with one name are is decided in `src/domain/records.ts`.
 */
export interface ReportedRecord extends Omit<ParsedExecution, 'source' | 'key' | 'isQuarantined' | 'failures'> {
  failures: ReportedFailure[];
  /** Files of the test, where the report does not say of which attempt. */
  files?: readonly ReportedFile[] | undefined;
  /** Distinguishes it from other records of the report, such as by suites and name. */
  place: readonly (string | readonly string[])[];
  listing: Listing;
  part?: Part;
  round?: number;
  /** Null where a name cannot have namesakes elsewhere in the report. */
  home: Home | null;
  /** Where it ran, as far as the report says: with the axes of the run, its leg. The run's own values count more. */
  axes?: Axes;
}

/** The test runner, if the report names it. */
export interface Runner {
  framework: string | null;
  frameworkVersion: string | null;
  /** Null if the runner supports several languages. */
  language: string | null;
}

interface Kept extends TestRecord, Omit<ParsedExecution, 'key'> {
  /** Its place as JSON. */
  place: string;
  /** Its place in the order of the report. */
  index: number;
  /** Seconds from the start of the report to the end of this record, by the durations alone. */
  offsetSeconds: number;
}

export interface ReportSettings {
  /** The unit of resending: the same in every upload of this report. */
  source: string;
  executionsMax: number;
  /** Absent: only addresses in the report are linked. */
  attachments?: AttachmentsPlace | undefined;
  /** The format says so. */
  hasFilesBeside?: boolean | undefined;
}

export class Report {
  /** Set by the parser if the report names it. */
  runner: Runner = { framework: null, frameworkVersion: null, language: null };
  /** They hold for all records, set by the parser if the report names them; those of a record count more. */
  axes: Axes | undefined;
  readonly #source: string;
  readonly #executionsMax: number;
  readonly #links: AttachmentLinks;
  readonly #collector: UploadCollector;
  readonly #kept: Kept[] = [];
  readonly #ordinals = new Map<string, number>();
  #seenCount = 0;
  #hasWarning = false;
  #isPartial = false;
  #isCutShort = false;
  #replacedEncoding: string | null = null;
  #namesLength = 0;
  #elapsedSeconds = 0;
  #earliestMs = Number.POSITIVE_INFINITY;

  constructor({ source, executionsMax, attachments, hasFilesBeside = false }: ReportSettings) {
    this.#source = source;
    this.#executionsMax = executionsMax;
    this.#links = new AttachmentLinks(attachments, hasFilesBeside);
    this.#collector = new UploadCollector(executionsMax);
  }

  /**
   * Call it for each test before keeping anything of it: rejected rows take time and memory too. Throws UploadTooLarge.
   */
  count(): void {
    if (++this.#seenCount > this.#executionsMax)
      throw new UploadTooLarge(UPLOAD_LIMITS.UPLOAD_EXECUTIONS_MAX.sentence(this.#executionsMax));
  }

  /** Tests so far. */
  get testCount(): number {
    return this.#seenCount;
  }

  add({ place, part = 'whole', round = 0, files, ...record }: ReportedRecord): void {
    this.#elapsedSeconds += record.durationSeconds;
    if (this.#replacedEncoding !== null && record.name.includes('\uFFFD')) {
      this.#isPartial = true;
      this.#collector.reject(`the test name holds bytes that are not ${this.#replacedEncoding}`, record.name);
      return;
    }
    const placeText = JSON.stringify(place);
    this.#countName(record.name.length + placeText.length);
    this.#kept.push({
      ...record,
      failures: this.#links.of(record.failures, files),
      part,
      round,
      place: placeText,
      source: this.#source,
      isQuarantined: false,
      index: this.#kept.length,
      offsetSeconds: this.#elapsedSeconds,
    });
  }

  #countName(length: number): void {
    this.#namesLength += length;
    if (this.#namesLength > UPLOAD_NAMES_LENGTH_MAX)
      throw new UploadTooLarge(UPLOAD_LIMITS.UPLOAD_NAMES_LENGTH_MAX.sentence());
  }

  /** Rejects a row. It took time all the same. */
  reject(reason: string, name: string, durationSeconds = 0): void {
    this.#isPartial = true;
    this.#elapsedSeconds += durationSeconds;
    this.#collector.reject(reason, name);
  }

  /** Whether there was trouble besides the failures of tests in this report: it is cut short, or a suite crashed. */
  get isPartial(): boolean {
    return this.#isPartial;
  }

  /** Adds a sentence to the receipt about trouble besides the failures of tests in this report. */
  warnOfTrouble(sentence: string): void {
    this.#isPartial = true;
    this.warn(sentence);
  }

  /** Adds a sentence to the receipt. */
  warn(sentence: string): void {
    this.#hasWarning = true;
    this.#collector.warn(sentence);
  }

  /**
   * The body holds bytes that are not of its encoding, for which U+FFFD stands. In a name they make one test of two, so
   * such tests are refused.
   */
  noticeReplaced(encoding: string): void {
    this.#replacedEncoding = encoding;
  }

  /** @param how such as "is cut short at line 12" */
  warnOfBreak(how: string): void {
    this.#isCutShort = true;
    const kept = this.#kept.length;
    const whole =
      kept === 0 ? 'No test before it was whole' : `The ${kept} before it ${kept === 1 ? 'is' : 'are'} kept`;
    this.warnOfTrouble(`The report ${how}. ${whole}; what followed is lost.`);
  }

  /** Call it with every time in the report: the earliest is its start. */
  noticeTime(timeMs: number): void {
    this.#earliestMs = Math.min(this.#earliestMs, timeMs);
  }

  /**
   * @param startedAtMs when the tests began: all times are shifted by the same amount, so that the earliest is this one
   */
  toUpload(run: Run, startedAtMs: number | undefined): ParsedUpload {
    const { framework, frameworkVersion, language } = this.runner;
    if (this.#replacedEncoding !== null)
      this.warn(`The report holds bytes that are not ${this.#replacedEncoding}. They are replaced by U+FFFD.`);
    if (this.#seenCount === 0 && !this.#hasWarning) this.warn('The report contains no test.');
    const { elsewhere } = this.#links;
    if (elsewhere > 0)
      this.warn(
        `${counted(elsewhere, 'attachment')} cannot be linked: not below the folder whose address \`attachments_url\` is.`,
      );
    const told = { ...run, framework, framework_version: frameworkVersion, language };
    this.#nameLegs(run.axes);
    const runs = new Map<Axes | undefined, ParsedRun>();
    const runOf = (axes: Axes | undefined): ParsedRun => {
      const known = runs.get(axes) ?? this.#collector.run(axes ? { ...told, axes } : told);
      runs.set(axes, known);
      return known;
    };
    const executions = this.#executions();
    for (const execution of executions)
      this.#collector.add(runOf(execution.axes), this.#parsed(execution, startedAtMs));
    // A report without tests has a run, too.
    if (executions.length === 0) runOf(joinedAxes(run.axes, this.axes));
    return { ...this.#collector.finish({ keepsEmptyRuns: true }), isCutShort: this.#isCutShort };
  }

  /** Gives each record the axes of its leg: equal ones are the same object. */
  #nameLegs(sent: Axes | undefined): void {
    const byTold = new Map<Axes | undefined, Axes | undefined>();
    const byText = new Map<string, Axes | undefined>();
    for (const { axes } of this.#kept)
      if (!byTold.has(axes)) {
        const joined = joinedAxes(sent, axes, this.axes);
        const text = axesText(joined);
        if (!byText.has(text)) byText.set(text, joined);
        byTold.set(axes, byText.get(text));
      }
    const areTooMany = byText.size > LEGS_MAX;
    if (areTooMany)
      this.warn(
        `The report describes more than ${LEGS_MAX} environments. They are left out: an axis has few values, the same in every run.`,
      );
    for (const record of this.#kept) {
      const leg = areTooMany ? sent : byTold.get(record.axes);
      if (leg) record.axes = leg;
      else delete record.axes;
    }
  }

  /** The executions of which the records tell, in the order of the report. */
  #executions(): Kept[] {
    const { executions, renamed, joined } = settled(this.#kept);
    if (renamed.length > 0) for (const { name } of executions) this.#countName(name.length);
    if (renamed.length > 0)
      this.warn(`${named(renamed)} in several suites. Each is a separate test, named by its suite.`);
    if (joined.length > 0)
      this.warn(
        `${named(joined)} for several tests of one suite. They count as one, which fails if one of them does: give each its own name.`,
      );
    return executions.sort((a, b) => a.index - b.index);
  }

  #parsed(kept: Kept, startedAtMs: number | undefined): ParsedExecution {
    const { name, status, durationSeconds, filepath, isFlaky, isRetried, isQuarantined, source } = kept;
    const finishedAtMs = startedAtMs === undefined ? kept.finishedAtMs : this.#shifted(kept, startedAtMs);
    return {
      name,
      status,
      // A sum of durations may be more than a number holds; JSON has no infinity.
      durationSeconds: Math.min(durationSeconds, Number.MAX_VALUE),
      finishedAtMs,
      filepath,
      function: kept.function,
      isFlaky,
      isRetried,
      // The failures would be those of an attempt that was run again, or of a test that is to be done.
      failures: status === 'skipped' ? [] : kept.failures,
      source,
      key: this.#keyOf(kept.place),
      isQuarantined,
      ...(kept.historyId && { historyId: kept.historyId }),
    };
  }

  /** An execution without a time is placed by the durations of those before it. */
  #shifted({ finishedAtMs, offsetSeconds }: Kept, startedAtMs: number): number {
    const shiftMs = Number.isFinite(this.#earliestMs) ? startedAtMs - this.#earliestMs : 0;
    return Math.round(finishedAtMs === null ? startedAtMs + offsetSeconds * 1000 : finishedAtMs + shiftMs);
  }

  /** Has an ordinal, so that a name that occurs twice in a report is two executions. */
  #keyOf(place: string): string {
    const ordinal = this.#ordinals.get(place) ?? 0;
    this.#ordinals.set(place, ordinal + 1);
    // Equals JSON.stringify([...place, ordinal]), sharing the characters of `place`.
    return `${place.slice(0, -1)},${ordinal}]`;
  }
}

/** More of one report are not legs, but something that differs from test to test. */
export const LEGS_MAX = 100;

/**
 * UTF-16 units of a name that is too long, whatever is added to it. What many names have in common is cut there before
 * they are put together, and each is refused as too long.
 */
export const TOO_LONG_NAME = 2 * TEST_NAME_LENGTH_MAX + 1;

const NAMES_SHOWN_MAX = 3;
const NAME_SHOWN_LENGTH_MAX = 200;

/** `2 names (shop.pays, shop.ships) stand` */
function named(names: readonly string[]): string {
  const shown = names.slice(0, NAMES_SHOWN_MAX).map((name) => cleanText(name.slice(0, NAME_SHOWN_LENGTH_MAX)));
  const list = [...shown, ...(names.length > shown.length ? ['…'] : [])].join(', ');
  return `${counted(names.length, 'name')} (${list}) ${names.length === 1 ? 'stands' : 'stand'}`;
}

/** `1 test`, `2 tests` */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Cuts texts as soon as they are read, so that one test cannot keep many MiB in memory. */
export const cutFailure = (failure: ParsedFailure): ParsedFailure => ({
  ...failure,
  message: failure.message && cutText(failure.message, MESSAGE_BYTES_MAX),
  stacktrace: failure.stacktrace && cutText(failure.stacktrace, STACKTRACE_BYTES_MAX),
});
