/** Finds the results in a list of Allure's files, and puts the attempts of a test in their order. */
import { axesText } from '../../domain/axes.ts';
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { cleanText } from '../../domain/text.ts';
import type { JsonPath, JsonVisit, JsonVisitor } from '../json.ts';
import type { Report, ReportedRecord } from '../report.ts';
import { labelOf, nameOf, recordOf, statusOf } from './results.ts';
import { containerSchema, kindOf, type Result, resultSchema, unreadableSchema } from './schemas.ts';

interface Kept {
  record: ReportedRecord;
  historyId: string | null;
  startedAtMs: number;
}

/** A set-up or teardown that failed, and the results that it was for. */
interface FailedFixture {
  sentence: string;
  children: readonly string[];
}

/** Warnings of one kind in a receipt. */
const WARNINGS_MAX = 5;
const FIXTURES_KEPT_MAX = 1_000;
const SHOWN_LENGTH_MAX = 200;
const UNREADABLE = 'the result is not described as Allure does it';

export class AllureVisitor implements JsonVisitor {
  /** Whether anything in the list is Allure's, or nothing is in it. */
  isAllure = true;
  #hasForeign = false;
  #hasOwn = false;
  readonly #kept: Kept[] = [];
  readonly #failedResults = new Set<string>();
  readonly #failedFixtures: FailedFixture[] = [];
  #unreadable = 0;

  constructor(private readonly report: Report) {}

  visit(path: JsonPath): JsonVisit {
    return typeof path[0] === 'number' ? 'read' : 'skip';
  }

  value(_: JsonPath, value: unknown): void {
    const kind = kindOf(value);
    if (kind === 'result') this.#readResult(value);
    else if (kind === 'container') this.#readContainer(value);
    else if (kind === 'unreadable') this.warnOfUnreadable(unreadableSchema.safeParse(value).data?.unreadable ?? '');
    this.#hasOwn ||= kind !== null;
    this.#hasForeign ||= kind === null;
    this.isAllure = this.#hasOwn || !this.#hasForeign;
  }

  tooLarge(_: JsonPath, isByBytes: boolean): void {
    this.report.count();
    const { JSON_VALUE_BYTES_MAX, JSON_VALUE_PARTS_MAX } = UPLOAD_LIMITS;
    this.report.reject((isByBytes ? JSON_VALUE_BYTES_MAX : JSON_VALUE_PARTS_MAX).sentence(), '');
  }

  #readResult(value: unknown): void {
    this.report.count();
    const result = resultSchema.safeParse(value).data;
    const name = result ? nameOf(result) : '';
    if (!result || name === '') {
      this.report.reject(UNREADABLE, '');
      return;
    }
    const status = statusOf(result);
    if (status === undefined) {
      // A process that was killed leaves such results.
      this.report.reject('the result has no status that is known', name);
      return;
    }
    const record = recordOf(result, name, status);
    const startedAtMs = record.finishedAtMs === null ? 0 : record.finishedAtMs - record.durationSeconds * 1000;
    if (record.finishedAtMs !== null) this.report.noticeTime(startedAtMs);
    if (status === 'failed' && result.uuid) this.#failedResults.add(result.uuid);
    this.#kept.push({ record, historyId: result.historyId || null, startedAtMs });
    this.#noticeRunner(result);
  }

  #noticeRunner({ labels }: Result): void {
    if (this.report.runner.framework !== null) return;
    const language = labelOf(labels, 'language');
    this.report.runner = {
      framework: labelOf(labels, 'framework'),
      frameworkVersion: null,
      // `cpython3`, by the adapter of pytest.
      language: language && /python/i.test(language.slice(0, SHOWN_LENGTH_MAX)) ? 'python' : language,
    };
  }

  #readContainer(value: unknown): void {
    const container = containerSchema.safeParse(value).data;
    const fixtures = [...(container?.befores ?? []), ...(container?.afters ?? [])];
    const failed = fixtures.find(({ status }) => status === 'failed' || status === 'broken');
    if (!failed || this.#failedFixtures.length >= FIXTURES_KEPT_MAX) return;
    const message = failed.statusDetails?.message ?? '';
    this.#failedFixtures.push({
      sentence: `The set-up or teardown ${shown(failed.name ?? '')} failed: ${shown(message)}`,
      children: container?.children ?? [],
    });
  }

  /** A file of the folder is no JSON. */
  warnOfUnreadable(file: string): void {
    if (++this.#unreadable <= WARNINGS_MAX)
      this.report.warnOfTrouble(`The file ${shown(file)} is not well-formed JSON: its test is lost.`);
  }

  /** @param breakage how the report breaks off; null if it is complete */
  finish(breakage: string | null): void {
    this.#kept.sort((a, b) => a.startedAtMs - b.startedAtMs);
    const histories = new Map<string, Set<string | null>>();
    for (const { record, historyId } of this.#kept) {
      const key = keyOf(record);
      const known = histories.get(key);
      if (known) known.add(historyId);
      else histories.set(key, new Set([historyId]));
    }
    // Tests of several histories are several tests, however they are named. Of Vitest, a result has the last attempt.
    const hasAttempts = this.report.runner.framework !== 'vitest';
    for (const { record } of this.#kept)
      this.report.add(
        hasAttempts && histories.get(keyOf(record))?.size === 1 ? record : { ...record, listing: 'never' },
      );
    let warnings = 0;
    for (const { sentence, children } of this.#failedFixtures)
      if (!children.some((uuid) => this.#failedResults.has(uuid)) && ++warnings <= WARNINGS_MAX)
        this.report.warnOfTrouble(sentence);
    if (breakage !== null) this.report.warnOfBreak(breakage);
  }
}

/** A test in a leg. */
const keyOf = ({ name, axes }: ReportedRecord): string => `${axesText(axes)}\0${name}`;

const shown = (text: string): string => cleanText(text.slice(0, SHOWN_LENGTH_MAX)) || '(without a text)';
