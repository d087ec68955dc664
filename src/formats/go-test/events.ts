/** Reads `go test -json` line by line. Other output in the same file is ignored. */
import { z } from 'zod';
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { GO_EVENTS_MAX, GO_EVENTS_PER_TEST, GO_LINE_BYTES_MAX } from '../../domain/limits.ts';
import { UploadTooLarge } from '../errors.ts';
import { counted, type Report } from '../report.ts';
import { TimeSlice } from '../time-slice.ts';
import { asUtf8, NEWLINE } from '../utf8.ts';

const eventSchema = z.object({
  Time: z.string().optional(),
  /** Such as `run`, `output`, `pass`, `fail`, `skip`, `build-output`. */
  Action: z.string(),
  Package: z.string().default(''),
  /** Empty in events of the whole package. */
  Test: z.string().default(''),
  /** Seconds. */
  Elapsed: z.number().optional(),
  Output: z.string().default(''),
  /** In build events: what was compiled. */
  ImportPath: z.string().default(''),
  /** In the last event of a package that failed to build: the ImportPath that did not compile. */
  FailedBuild: z.string().default(''),
});
export type GoEvent = z.infer<typeof eventSchema>;

/** Programs log in JSON, too, and may call something an action. */
const ACTIONS: ReadonlySet<string> = new Set(
  'start run pause cont pass bench fail skip output attr artifacts build-output build-fail'.split(' '),
);
/** How an event begins. What a test printed without a line break may stand before it. */
const EVENT_STARTS = ['{"Time":', '{"Action":', '{"ImportPath":'].map((text) => Buffer.from(text));

const LINES_PER_CLOCK_READING = 256;

export interface ReadEvents {
  eventCount: number;
  /** The number of the last line if the event there is incomplete; else null. */
  cutAtLine: number | null;
}

export async function readEvents(
  body: Uint8Array,
  read: (event: GoEvent) => void,
  report: Report,
): Promise<ReadEvents> {
  const bytes = bufferOf(asUtf8(body, report));
  const slice = new TimeSlice();
  let eventCount = 0;
  let unreadableCount = 0;
  let cutAtLine: number | null = null;
  let line = 0;
  for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
    end = bytes.indexOf(NEWLINE, start);
    const isWhole = end >= 0;
    if (!isWhole) end = bytes.length;
    if (++line % LINES_PER_CLOCK_READING === 0 && slice.isUsedUp()) await slice.yieldToOthers();
    // Anything else is output of a build, of `go: downloading`, of a shell, or of a program that logs in JSON.
    const at = bytes[start] === OPEN_BRACE ? start : startOfEvent(bytes.subarray(start, end), start);
    if (at < 0) continue;
    const event = end - at > GO_LINE_BYTES_MAX ? null : eventOf(bytes.toString('utf8', at, end));
    if (event === 'foreign') continue;
    if (event) {
      if (++eventCount > GO_EVENTS_MAX + report.testCount * GO_EVENTS_PER_TEST)
        throw new UploadTooLarge(UPLOAD_LIMITS.GO_EVENTS_MAX.sentence());
      read(event);
    } else if (isWhole) unreadableCount++;
    else cutAtLine = line;
  }
  if (unreadableCount > 0 && eventCount > 0)
    report.warnOfTrouble(UPLOAD_LIMITS.GO_LINE_BYTES_MAX.sentence(counted(unreadableCount, 'line')));
  return { eventCount, cutAtLine };
}

/** Where an event begins that other output stands before; -1 if there is none. */
function startOfEvent(line: Buffer, start: number): number {
  const found = line.indexOf(OPEN_BRACE) < 0 ? [] : EVENT_STARTS.map((text) => line.indexOf(text));
  const first = Math.min(...found.filter((at) => at >= 0));
  return Number.isFinite(first) ? start + first : -1;
}

/** Null for a line that is an event and cannot be read. */
function eventOf(line: string): GoEvent | 'foreign' | null {
  try {
    const value: unknown = JSON.parse(line);
    const event = eventSchema.safeParse(value).data;
    if (event) return ACTIONS.has(event.Action) ? event : 'foreign';
    return actionSchema.safeParse(value).success ? null : 'foreign';
  } catch {
    return null;
  }
}

export const isEvent = (value: unknown): boolean => ACTIONS.has(eventSchema.safeParse(value).data?.Action ?? '');

/** An event that is not as Go writes it still has an action. */
const actionSchema = z.object({ Action: z.unknown() }).refine(({ Action }) => Action !== undefined);

const bufferOf = (body: Uint8Array): Buffer => Buffer.from(body.buffer, body.byteOffset, body.length);
const OPEN_BRACE = 0x7b;
