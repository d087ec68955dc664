/** The older JSON of Cucumber, which behave writes too: a list of features with their scenarios and steps. */
import { z } from 'zod';
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import type { JsonKind, JsonPath, JsonVisit, JsonVisitor } from '../json.ts';
import { type Report, type ReportedRecord, TOO_LONG_NAME } from '../report.ts';
import { parseTimestamp } from '../time.ts';
import { type FailedStep, failureOf } from './failure.ts';
import { rankOf, statusOf } from './step-status.ts';

const UNREADABLE = 'the scenario is not described as Cucumber does it';
/** Steps of one scenario; more are not looked at. */
const STEPS_MAX = 1_000;
const NANOSECONDS = 1e-9;

const stepsOf = z
  .array(z.unknown())
  .transform((steps) => steps.slice(0, STEPS_MAX))
  .pipe(
    z.array(
      z.object({
        name: z.string().optional(),
        result: z
          .object({
            status: z.string().default('skipped'),
            duration: z.number().default(0),
            error_message: z.union([z.string(), z.array(z.string())]).optional(),
          })
          .optional(),
      }),
    ),
  )
  .default([]);
const elementSchema = z.object({
  type: z.string().default('scenario'),
  name: z.string().default(''),
  line: z.number().optional(),
  start_timestamp: z.string().optional(),
  /** By behave: that of the scenario, also if no step says it. */
  status: z.string().optional(),
  before: stepsOf,
  steps: stepsOf,
  after: stepsOf,
});
type Element = z.infer<typeof elementSchema>;

const featureSchema = z.object({ keyword: z.string(), elements: z.array(z.unknown()).optional() });
export const isFeature = (value: unknown): boolean => featureSchema.safeParse(value).success;

/** A scenario whose feature is not read to its end. */
interface Waiting {
  element: Element;
  record: Omit<ReportedRecord, 'place' | 'name' | 'filepath' | 'home'>;
}

export class FeaturesVisitor implements JsonVisitor {
  isCucumber = false;
  #index = -1;
  #fields = new Map<string, string>();
  #waiting: Waiting[] = [];

  constructor(private readonly report: Report) {
    report.runner = { framework: 'cucumber', frameworkVersion: null, language: null };
  }

  visit(path: JsonPath, kind: JsonKind): JsonVisit {
    const [index, field] = path;
    if (path.length === 1) {
      this.#endFeature();
      this.#index = Number(index);
      return kind === 'object' ? 'parts' : 'skip';
    }
    if (path.length === 2) {
      if (field === 'keyword') this.isCucumber = true;
      if (field === 'elements') return kind === 'array' ? 'parts' : 'skip';
      return /^(?:uri|name|location)$/.test(String(field)) && kind === 'scalar' ? 'read' : 'skip';
    }
    return 'read';
  }

  value(path: JsonPath, value: unknown): void {
    const [, field] = path;
    if (path.length === 2) this.#fields.set(String(field), typeof value === 'string' ? value : '');
    else this.#readElement(value);
  }

  tooLarge(path: JsonPath, isByBytes: boolean): void {
    if (path.length < 3) return;
    this.report.count();
    const { JSON_VALUE_BYTES_MAX, JSON_VALUE_PARTS_MAX } = UPLOAD_LIMITS;
    this.report.reject((isByBytes ? JSON_VALUE_BYTES_MAX : JSON_VALUE_PARTS_MAX).sentence(), '');
  }

  #readElement(value: unknown): void {
    const element = elementSchema.safeParse(value).data;
    if (element?.type === 'background') return;
    this.report.count();
    if (!element) this.report.reject(UNREADABLE, '');
    else this.#waiting.push({ element, record: recordOf(element) });
  }

  /** Its name and the names of all its scenarios are known now. */
  #endFeature(): void {
    const waiting = this.#waiting;
    // Without its feature, a scenario would have another name: the report broke off before it.
    const feature = this.#fields.get('name');
    // behave writes `features/cart.feature:1`, and durations in seconds.
    const location = this.#fields.get('location')?.replace(/:\d+$/, '');
    const uri = this.#fields.get('uri') ?? location ?? '';
    const isOfBehave = !this.#fields.has('uri') && location !== undefined;
    const secondsOf = isOfBehave ? 1 : NANOSECONDS;
    if (isOfBehave) this.report.runner = { framework: 'behave', frameworkVersion: null, language: 'python' };
    const lines = linesByName(waiting);
    if (feature !== undefined)
      for (const { element, record } of waiting) {
        const durationSeconds = record.durationSeconds * secondsOf;
        const startedAtMs = parseTimestamp(element.start_timestamp);
        if (startedAtMs !== null) this.report.noticeTime(startedAtMs);
        const own = numberedName(element, lines.get(element.name) ?? []);
        const className = feature.slice(0, TOO_LONG_NAME);
        this.report.add({
          ...record,
          durationSeconds,
          finishedAtMs: startedAtMs === null ? null : Math.round(startedAtMs + durationSeconds * 1000),
          place: [uri, own],
          name: `${className}.${own}`,
          filepath: uri || null,
          home: { suites: [], file: uri || null, project: null, className, ownName: own },
        });
      }
    this.#waiting = [];
    this.#fields = new Map();
  }

  /** @param isCutShort then the rows of the last outline may be incomplete, which number its tests */
  finish(isCutShort: boolean): void {
    this.isCucumber ||= this.#index < 0 && !isCutShort;
    if (!isCutShort) this.#endFeature();
  }
}

function linesByName(waiting: readonly Waiting[]): Map<string, number[]> {
  const sets = new Map<string, Set<number>>();
  for (const { element } of waiting) {
    const known = sets.get(element.name) ?? new Set();
    sets.set(element.name, known.add(element.line ?? 0));
  }
  return new Map([...sets].map(([name, lines]) => [name, [...lines].sort((a, b) => a - b)]));
}

/** The rows of an outline have one name, and each its line: `Adds many #2`. */
function numberedName({ name, line = 0 }: Element, lines: readonly number[]): string {
  const cut = name.slice(0, TOO_LONG_NAME);
  return lines.length > 1 ? `${cut} #${lines.indexOf(line) + 1}` : cut;
}

function recordOf({ name, before, steps, after, status: stated }: Element): Waiting['record'] {
  let rank = stated === undefined ? -1 : rankOf(stated);
  let worst: FailedStep | null = null;
  let worstRank = rankOf('skipped');
  let duration = 0;
  for (const { name: step, result } of [...before, ...steps, ...after]) {
    // behave gives no result to what did not run.
    if (!result) continue;
    duration += Math.max(0, result.duration);
    const own = rankOf(result.status);
    rank = Math.max(rank, own);
    if (own <= worstRank) continue;
    const text = result.error_message;
    const message = Array.isArray(text) ? text.join('\n') : text;
    worst = { result: { status: result.status, ...(message === undefined ? {} : { message }) }, step: step ?? null };
    worstRank = own;
  }
  const status = statusOf(rank);
  const isFailed = status === 'failed' || status === 'pending';
  return {
    status: isFailed ? 'failed' : status,
    durationSeconds: duration,
    finishedAtMs: null,
    function: name || null,
    isFlaky: false,
    isRetried: false,
    failures: isFailed && worst ? [failureOf(worst, 1)] : [],
    // The last of several attempts is in the report, or each is in its own.
    listing: 'never',
  };
}
