/**
 * Reads a large JSON document value by value: a visitor chooses which values it wants, and only those are parsed.
 * JSON.parse of a whole report would block the event loop for a second and keep every attachment in memory. Also, a
 * report that is cut short keeps the values that were complete.
 *
 * Nesting, the number of parts that are visited, and the size of parsed values are bounded. A skipped value is only
 * measured.
 */
import { UPLOAD_LIMITS } from '../domain/limit-table.ts';
import { DEPTH_MAX, JSON_PARTS_MAX, JSON_VALUE_BYTES_MAX, JSON_VALUE_PARTS_MAX } from '../domain/limits.ts';
import { InvalidUpload, UploadTooLarge } from './errors.ts';
import { TimeSlice } from './time-slice.ts';
import { lineAt } from './utf8.ts';

/** Keys and indexes from the root. It changes while the document is read: copy it to keep it. */
export type JsonPath = readonly (string | number)[];

export type JsonKind = 'array' | 'object' | 'scalar';
export type JsonVisit = 'read' | 'parts' | 'skip';

export interface JsonVisitor {
  /** Whether to read the value at this path whole, to visit its parts, or to skip it. */
  visit(path: JsonPath, kind: JsonKind): JsonVisit;
  value(path: JsonPath, value: unknown): void;
  /** Called instead of `value` if it has more than 16 MiB (`isByBytes`) or contains too many values. */
  tooLarge(path: JsonPath, isByBytes: boolean): void;
}

export interface JsonLimits {
  /** For messages: "report". */
  what: string;
  /** Values in one value that is read: `[{},{},…` takes three bytes each on the wire but dozens in memory. */
  valuesMax: number;
  /** Values in all that is read. */
  valuesTotalMax: number;
}

const REPORT_LIMITS: JsonLimits = {
  what: 'report',
  valuesMax: JSON_VALUE_PARTS_MAX,
  valuesTotalMax: Number.POSITIVE_INFINITY,
};

const KEY_BYTES_MAX = 1_000;
/** A step visits one part, or measures this much of a value. */
const BYTES_PER_STEP = 16 * 1024;
const STEPS_PER_CLOCK_READING = 128;

/**
 * Returns how the JSON breaks off, such as "is cut short at line 5", or null if it is complete. Anything after the root
 * value is ignored.
 */
export async function readJson(
  body: Uint8Array,
  visitor: JsonVisitor,
  limits: JsonLimits = REPORT_LIMITS,
): Promise<string | null> {
  const reader = new JsonReader(body, visitor, limits);
  const slice = new TimeSlice();
  try {
    for (let steps = 1; reader.step(); steps++)
      if (steps % STEPS_PER_CLOCK_READING === 0 && slice.isUsedUp()) await slice.yieldToOthers();
    return null;
  } catch (error) {
    if (error instanceof Malformed) return error.message;
    throw error;
  }
}

/** Where the document stopped being JSON. */
class Malformed extends Error {}

/** An object or array whose parts are being visited. */
interface Open {
  isArray: boolean;
  /** The parts that may come next. */
  next: 'part' | 'part or end' | 'comma or end';
}

/** A value that is being measured. */
interface Measured {
  start: number;
  depth: number;
  /** Objects, arrays and items in it. */
  count: number;
  isRead: boolean;
}

class JsonReader {
  readonly #bytes: Buffer;
  readonly #path: (string | number)[] = [];
  readonly #open: Open[] = [];
  #measured: Measured | null = null;
  #at = 0;
  #partCount = 0;
  #valueCount = 0;

  constructor(
    body: Uint8Array,
    private readonly visitor: JsonVisitor,
    private readonly limits: JsonLimits,
  ) {
    this.#bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  }

  /** Reads a little further; false at the end of the root value. */
  step(): boolean {
    if (this.#measured) this.#measure(this.#measured);
    else {
      this.#skipSpace();
      const open = this.#open.at(-1);
      if (open) this.#stepIn(open);
      else this.#value(true);
    }
    return this.#open.length > 0 || this.#measured !== null;
  }

  #stepIn(open: Open): void {
    const byte = this.#byte();
    if (byte === (open.isArray ? CLOSE_BRACKET : CLOSE_BRACE) && open.next !== 'part') {
      this.#at++;
      this.#open.pop();
      this.#path.pop();
    } else if (open.next === 'comma or end') {
      if (byte !== COMMA) throw this.#malformed();
      this.#at++;
      open.next = 'part';
    } else {
      open.next = 'comma or end';
      this.#enter(open);
      this.#value(false);
    }
  }

  /** Updates the path to the next part. */
  #enter(open: Open): void {
    if (++this.#partCount > JSON_PARTS_MAX)
      throw new UploadTooLarge(UPLOAD_LIMITS.JSON_PARTS_MAX.sentence(this.limits.what));
    const last = this.#path.length - 1;
    if (open.isArray) this.#path[last] = Number(this.#path[last]) + 1;
    else {
      this.#path[last] = this.#key();
      this.#skipSpace();
      if (this.#byte() !== COLON) throw this.#malformed();
      this.#at++;
      this.#skipSpace();
    }
  }

  #key(): string {
    const start = this.#at;
    if (this.#byte() !== QUOTE) throw this.#malformed();
    const end = this.#endOfString(start);
    this.#at = end;
    return end - start > KEY_BYTES_MAX ? '' : String(this.#parsed(start, end));
  }

  #value(isRoot: boolean): void {
    const byte = this.#byte();
    const isArray = byte === OPEN_BRACKET;
    const kind: JsonKind = isArray ? 'array' : byte === OPEN_BRACE ? 'object' : 'scalar';
    const visit = isRoot ? 'parts' : this.visitor.visit(this.#path, kind);
    if (kind === 'scalar') {
      const start = this.#at;
      this.#at = byte === QUOTE ? this.#endOfString(start) : this.#endOfScalar(start);
      if (visit === 'read') this.#handOver(start);
    } else if (visit === 'parts') {
      this.#at++;
      this.#assertDepth(this.#open.push({ isArray, next: 'part or end' }));
      this.#path.push(isArray ? -1 : '');
    } else this.#measured = { start: this.#at, depth: 0, count: 0, isRead: visit === 'read' };
  }

  /** Looks for the end of a value, a step at a time. */
  #measure(measured: Measured): void {
    const bytes = this.#bytes;
    const until = Math.min(bytes.length, this.#at + BYTES_PER_STEP);
    let at = this.#at;
    while (at < until) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        at = this.#endOfString(at);
        continue;
      }
      at++;
      if (byte === COMMA) measured.count++;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        measured.count++;
        this.#assertDepth(this.#open.length + ++measured.depth);
      } else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --measured.depth === 0) {
        this.#at = at;
        this.#measured = null;
        if (measured.isRead) this.#handOver(measured.start, measured.count);
        return;
      }
    }
    this.#at = at;
    if (at >= bytes.length) throw this.#cutShort();
  }

  #handOver(start: number, count = 1): void {
    const { valuesMax, valuesTotalMax } = this.limits;
    const isByBytes = this.#at - start > JSON_VALUE_BYTES_MAX;
    if (isByBytes || count > valuesMax) {
      this.visitor.tooLarge(this.#path, isByBytes);
      return;
    }
    this.#valueCount += count;
    if (this.#valueCount > valuesTotalMax) throw new UploadTooLarge(UPLOAD_LIMITS.EXPORT_JSON_VALUES_MAX.sentence());
    this.visitor.value(this.#path, this.#parsed(start, this.#at));
  }

  #parsed(start: number, end: number): unknown {
    try {
      return JSON.parse(this.#bytes.toString('utf8', start, end));
    } catch {
      throw this.#malformed(start);
    }
  }

  /** A quote after an odd number of backslashes is part of the string. */
  #endOfString(start: number): number {
    const bytes = this.#bytes;
    for (let at = bytes.indexOf(QUOTE, start + 1); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) {
      let backslashes = 0;
      while (bytes[at - 1 - backslashes] === BACKSLASH) backslashes++;
      if (backslashes % 2 === 0) return at + 1;
    }
    throw this.#cutShort();
  }

  #endOfScalar(start: number): number {
    let at = start;
    while (at < this.#bytes.length && SCALAR_BYTES[this.#bytes[at] ?? 0]) at++;
    if (at === this.#bytes.length) throw this.#cutShort();
    if (at === start) throw this.#malformed();
    return at;
  }

  #skipSpace(): void {
    while (SPACE_BYTES[this.#bytes[this.#at] ?? 0]) this.#at++;
  }

  #byte(): number {
    const byte = this.#bytes[this.#at];
    if (byte === undefined) throw this.#cutShort();
    return byte;
  }

  #assertDepth(depth: number): void {
    if (depth > DEPTH_MAX) throw new InvalidUpload(UPLOAD_LIMITS.DEPTH_MAX.sentence(this.limits.what, 'values'));
  }

  #cutShort(): Malformed {
    return new Malformed(`is cut short at line ${lineAt(this.#bytes, this.#bytes.length)}`);
  }

  #malformed(at = this.#at): Malformed {
    return new Malformed(`is not well-formed JSON at line ${lineAt(this.#bytes, at)}`);
  }
}

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

const tableOf = (characters: string): readonly boolean[] => {
  const codes = new Set([...characters].map((character) => character.charCodeAt(0)));
  return Array.from({ length: 256 }, (_, code) => codes.has(code));
};
const SPACE_BYTES = tableOf(' \t\r\n');
/** The bytes of numbers, true, false and null. */
const SCALAR_BYTES = tableOf('+-.0123456789Eaeflnrstu');
