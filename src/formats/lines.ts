/** Reads a report that is made of lines, each an event or a part of one. */

import { jsonOf } from '../domain/json.ts';
import { UPLOAD_LIMITS } from '../domain/limit-table.ts';
import { EVENTS_MAX, EVENTS_PER_TEST, LINE_BYTES_MAX } from '../domain/limits.ts';
import { UploadTooLarge } from './errors.ts';
import { counted, type Report } from './report.ts';
import { TimeSlice } from './time-slice.ts';
import { asUtf8, NEWLINE } from './utf8.ts';

const LINES_PER_CLOCK_READING = 256;

/** One line, as the bytes from `start` to `end` without the line break. */
export interface Line {
  bytes: Buffer;
  start: number;
  end: number;
  /** From 1 on. */
  number: number;
  /** Whether a line break ends it: a report that is cut short ends within a line. */
  isWhole: boolean;
}

/** Calls `read` with each line. The object is the same each time: copy what you keep. */
export async function eachLine(body: Uint8Array, report: Report, read: (line: Readonly<Line>) => void): Promise<void> {
  const utf8 = asUtf8(body, report);
  const bytes = Buffer.from(utf8.buffer, utf8.byteOffset, utf8.length);
  const slice = new TimeSlice();
  const line: Line = { bytes, start: 0, end: 0, number: 0, isWhole: true };
  for (; line.start < bytes.length; line.start = line.end + 1) {
    line.end = bytes.indexOf(NEWLINE, line.start);
    line.isWhole = line.end >= 0;
    if (!line.isWhole) line.end = bytes.length;
    if (++line.number % LINES_PER_CLOCK_READING === 0 && slice.isUsedUp()) await slice.yieldToOthers();
    read(line);
  }
}

/** Bounds how many events a report may hold for its tests. */
export class EventCount {
  #count = 0;

  constructor(private readonly report: Report) {}

  get count(): number {
    return this.#count;
  }

  /** Call it for each event. Throws UploadTooLarge. */
  add(): void {
    if (++this.#count > EVENTS_MAX + this.report.testCount * EVENTS_PER_TEST)
      throw new UploadTooLarge(UPLOAD_LIMITS.EVENTS_MAX.sentence());
  }
}

export interface JsonLines {
  /** Lines with an event of the format. */
  eventCount: number;
  /** The number of the last line if the event there is incomplete; else null. */
  cutAtLine: number | null;
}

/** How much of a line tells what is in it. */
const HEAD_BYTES = 200;

/**
 * Reads the JSON values of a report with one in each line. Other output in the same file is ignored.
 *
 * @param wants tells from the beginning of a line whether to parse it: attachments may take megabytes
 * @param read false if the value is no event of the format
 */
export async function readJsonLines(
  body: Uint8Array,
  report: Report,
  wants: (head: string) => boolean,
  read: (value: unknown) => boolean,
): Promise<JsonLines> {
  const events = new EventCount(report);
  let eventCount = 0;
  let unreadableCount = 0;
  let cutAtLine: number | null = null;
  await eachLine(body, report, ({ bytes, start, end, number, isWhole }) => {
    if (end === start) return;
    if (!wants(bytes.toString('utf8', start, Math.min(end, start + HEAD_BYTES)))) return;
    events.add();
    const value = end - start > LINE_BYTES_MAX ? undefined : jsonOf(bytes.toString('utf8', start, end));
    if (value !== undefined) eventCount += read(value) ? 1 : 0;
    else if (isWhole) unreadableCount++;
    else cutAtLine = number;
  });
  if (unreadableCount > 0 && eventCount > 0)
    report.warnOfTrouble(UPLOAD_LIMITS.LINE_BYTES_MAX.sentence(counted(unreadableCount, 'line')));
  return { eventCount, cutAtLine };
}
