/** Reads `go test -json` line by line. Other output in the same file is ignored. */
import { z } from 'zod';
import { UPLOAD_LIMITS } from '../../domain/limit-table.ts';
import { LINE_BYTES_MAX } from '../../domain/limits.ts';
import { EventCount, eachLine } from '../lines.ts';
import { counted, type Report } from '../report.ts';

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
  const events = new EventCount(report);
  let unreadableCount = 0;
  let cutAtLine: number | null = null;
  await eachLine(body, report, ({ bytes, start, end, number, isWhole }) => {
    // Anything else is output of a build, of `go: downloading`, of a shell, or of a program that logs in JSON.
    const at = bytes[start] === OPEN_BRACE ? start : startOfEvent(bytes.subarray(start, end), start);
    if (at < 0) return;
    const event = end - at > LINE_BYTES_MAX ? null : eventOf(bytes.toString('utf8', at, end));
    if (event === 'foreign') return;
    if (event) {
      events.add();
      read(event);
    } else if (isWhole) unreadableCount++;
    else cutAtLine = number;
  });
  const eventCount = events.count;
  if (unreadableCount > 0 && eventCount > 0)
    report.warnOfTrouble(UPLOAD_LIMITS.LINE_BYTES_MAX.sentence(counted(unreadableCount, 'line')));
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

const OPEN_BRACE = 0x7b;
