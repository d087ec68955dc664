/** Finds the tests in a CTRF report. */
import { z } from 'zod';
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { statusOfWord } from '../../domain/status-words.ts';
import { epochMs } from '../epoch.ts';
import type { JsonKind, JsonPath, JsonVisit, JsonVisitor } from '../json.ts';
import type { NamePath } from '../path.ts';
import { counted, type Report } from '../report.ts';
import { axesOfReport } from './axes.ts';
import { environmentSchema, type Summary, summarySchema, testSchema, toolSchema } from './schemas.ts';
import { recordOf, statusOf, withoutItself } from './tests.ts';

const UNREADABLE = 'the test is not described as CTRF does it';

export class CtrfVisitor implements JsonVisitor {
  /** Whether the document has a list of tests, as every report does. */
  isCtrf = false;
  #summary: Summary | null = null;
  #suites: NamePath = [];
  #elapsedMs = 0;
  #failedCount = 0;
  #testCount = 0;

  constructor(private readonly report: Report) {}

  visit([root, part, ...below]: JsonPath, kind: JsonKind): JsonVisit {
    if (root !== 'results') return 'skip';
    if (part === undefined) return 'parts';
    if (part === 'tests' && below.length === 0) {
      this.isCtrf ||= kind === 'array';
      return kind === 'array' ? 'parts' : 'skip';
    }
    return part === 'tool' || part === 'summary' || part === 'environment' || part === 'tests' ? 'read' : 'skip';
  }

  value([, part]: JsonPath, value: unknown): void {
    if (part === 'tests') this.#readTest(value);
    else if (part === 'summary') this.#summary = summarySchema.safeParse(value).data ?? null;
    else if (part === 'environment') {
      const environment = environmentSchema.safeParse(value).data;
      if (environment) this.report.axes = axesOfReport(environment);
    } else {
      const tool = toolSchema.safeParse(value).data;
      if (tool)
        this.report.runner = {
          framework: tool.name.toLowerCase() || null,
          frameworkVersion: tool.version || null,
          language: null,
        };
    }
  }

  tooLarge([, part]: JsonPath, isByBytes: boolean): void {
    if (part !== 'tests') return;
    this.report.count();
    this.#testCount++;
    const { JSON_VALUE_BYTES_MAX, JSON_VALUE_PARTS_MAX } = UPLOAD_LIMITS;
    this.report.reject((isByBytes ? JSON_VALUE_BYTES_MAX : JSON_VALUE_PARTS_MAX).sentence(), '');
  }

  #readTest(value: unknown): void {
    this.report.count();
    this.#testCount++;
    const test = testSchema.safeParse(value).data;
    if (!test) {
      this.report.reject(UNREADABLE, nameSchema.safeParse(value).data?.name ?? '');
      return;
    }
    const status = statusOf(test);
    if (status === undefined) {
      this.report.reject('the test has a status that is not known', test.name, (test.duration ?? 0) / 1000);
      return;
    }
    // The summary may count a test that was expected to fail, as Playwright's reporter does.
    if (status === 'failed' || statusOfWord(test.rawStatus ?? '') === 'failed') this.#failedCount++;
    const startedAtMs = epochMs(test.start);
    if (startedAtMs !== null) this.report.noticeTime(startedAtMs);
    const record = recordOf(withoutItself(test, this.report.runner.framework), status, this.#suites);
    this.#suites = record.home.suites;
    this.#elapsedMs += record.durationSeconds * 1000;
    // Some reporters tell only when all tests began; then they are placed one after the other.
    const beganMs = epochMs(this.#summary?.start);
    if (beganMs !== null) this.report.noticeTime(beganMs);
    const finishedAtMs = record.finishedAtMs ?? (beganMs === null ? null : Math.round(beganMs + this.#elapsedMs));
    this.report.add({ ...record, finishedAtMs });
  }

  /** @param breakage how the report breaks off; null if it is complete */
  finish(breakage: string | null): void {
    if (breakage !== null) {
      this.report.warnOfBreak(breakage);
      return;
    }
    const { tests, failed } = this.#summary ?? {};
    if ((failed ?? 0) > this.#failedCount)
      this.report.warnOfTrouble(
        `The report counts ${counted(failed ?? 0, 'failed test')}, and holds ${this.#failedCount}.`,
      );
    else if ((tests ?? 0) > this.#testCount)
      this.report.warnOfTrouble(`The report counts ${counted(tests ?? 0, 'test')}, and holds ${this.#testCount}.`);
  }
}

const nameSchema = z.object({ name: z.string() });
