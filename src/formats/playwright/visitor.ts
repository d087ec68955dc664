/**
 * Finds the tests in a Playwright report: a suite contains specs and other suites, and the outermost suite is a file.
 */
import { z } from 'zod';
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import type { JsonKind, JsonPath, JsonVisit, JsonVisitor } from '../json.ts';
import { type Report, TOO_LONG_NAME } from '../report.ts';
import { messageOf } from './failures.ts';
import { globalErrorSchema, type ProjectTest, type Spec, shardSchema, specSchema, testSchema } from './schemas.ts';
import { type Describes, describesWithin, NO_DESCRIBES, type Place, recordOf } from './tests.ts';

/** How many errors outside tests the receipt shows. */
const ERRORS_SHOWN_MAX = 5;
const ERROR_LENGTH_MAX = 500;
const UNREADABLE = 'the test is not described as Playwright does it';

export class PlaywrightVisitor implements JsonVisitor {
  /** Whether the document has a list of suites, as every report does. */
  isPlaywright = false;
  /** The title of the outermost open suite, which is a file. */
  #file = '';
  /** Suites of the file around the current test, by depth. */
  readonly #describes: Describes[] = [];
  #shard = '';

  constructor(private readonly report: Report) {
    report.runner = { framework: 'playwright', frameworkVersion: null, language: 'javascript' };
  }

  visit(path: JsonPath, kind: JsonKind): JsonVisit {
    const last = path.at(-1);
    switch (path[0]) {
      case 'config':
        if (path.length === 1) return 'parts';
        return last === 'version' || last === 'shard' ? 'read' : 'skip';
      case 'errors':
        return path.length === 1 ? 'parts' : Number(last) < ERRORS_SHOWN_MAX ? 'read' : 'skip';
      case 'suites':
        this.isPlaywright ||= path.length === 1 && kind === 'array';
        return this.#visitSuite(path);
      default:
        return 'skip';
    }
  }

  #visitSuite(path: JsonPath): JsonVisit {
    const last = path.at(-1);
    if (typeof last === 'number') {
      if (path.at(-2) === 'specs') return 'read';
      this.#openSuite(depthOf(path));
      return 'parts';
    }
    if (last === 'suites' || last === 'specs') return 'parts';
    return last === 'title' ? 'read' : 'skip';
  }

  value(path: JsonPath, value: unknown): void {
    const last = path.at(-1);
    if (path[0] === 'config') this.#readConfig(last, value);
    else if (path[0] === 'errors') this.#warnOf(value);
    else if (last === 'title') this.#nameSuite(depthOf(path), typeof value === 'string' ? value : '');
    else this.#readSpec(value);
  }

  /** Until it is named, and if it never is, a suite adds nothing to the names of its tests. */
  #openSuite(depth: number): void {
    if (depth === 1) this.#file = '';
    this.#describes.length = Math.max(0, depth - 2);
  }

  #nameSuite(depth: number, title: string): void {
    if (depth === 1) this.#file = title.slice(0, TOO_LONG_NAME);
    else this.#describes[depth - 2] = describesWithin(this.#around(), title);
  }

  /** The describe blocks that are open and have a name. */
  #around(): Describes {
    return this.#describes.findLast((one) => one !== undefined) ?? NO_DESCRIBES;
  }

  tooLarge(path: JsonPath, isByBytes: boolean): void {
    if (path[0] !== 'suites') return;
    this.report.count();
    const { JSON_VALUE_BYTES_MAX, JSON_VALUE_PARTS_MAX } = UPLOAD_LIMITS;
    this.report.reject((isByBytes ? JSON_VALUE_BYTES_MAX : JSON_VALUE_PARTS_MAX).sentence(), '');
  }

  #readConfig(name: string | number | undefined, value: unknown): void {
    const version = z.string().safeParse(value);
    if (name === 'version' && version.success)
      this.report.runner = { ...this.report.runner, frameworkVersion: version.data };
    const shard = shardSchema.safeParse(value);
    if (name === 'shard' && shard.data) this.#shard = `${shard.data.current}/${shard.data.total}`;
  }

  #warnOf(value: unknown): void {
    const error = globalErrorSchema.safeParse(value);
    const [line = ''] = (error.success ? messageOf(error.data) : null)?.split('\n', 1) ?? [];
    this.report.warnOfTrouble(`Playwright reports an error outside of tests: ${line.slice(0, ERROR_LENGTH_MAX)}`);
  }

  #readSpec(value: unknown): void {
    const spec = specSchema.safeParse(value);
    if (!spec.success) {
      this.report.count();
      this.report.reject(UNREADABLE, titleOf(value));
      return;
    }
    const place: Place = { shard: this.#shard, file: spec.data.file ?? this.#file, describes: this.#around() };
    for (const raw of spec.data.tests) {
      this.report.count();
      const test = testSchema.safeParse(raw);
      if (test.success) this.#addTest(spec.data, test.data, place);
      else this.report.reject(UNREADABLE, spec.data.title);
    }
  }

  #addTest(spec: Spec, test: ProjectTest, place: Place): void {
    const { record, startedAtMs } = recordOf(spec, test, place);
    if (startedAtMs !== null) this.report.noticeTime(startedAtMs);
    this.report.add(record);
  }
}

/** `['suites', 0, 'suites', 2, 'title']` is 2 suites deep. */
const depthOf = (path: JsonPath): number => Math.floor(path.length / 2);

const titleOf = (value: unknown): string => z.object({ title: z.string() }).safeParse(value).data?.title ?? '';
