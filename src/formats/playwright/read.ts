/** The parser of the report of Playwright's JSON reporter. */
import { WrongFormat } from '../errors.ts';
import type { ReportFormat } from '../format.ts';
import { type JsonVisitor, readJson } from '../json.ts';
import { isOtherJson } from '../other-json.ts';
import { asUtf8, NEWLINE } from '../utf8.ts';
import { PlaywrightVisitor } from './visitor.ts';

export const readPlaywright: ReportFormat['parse'] = async (body, report) => {
  const visitor = new PlaywrightVisitor(report);
  const breakage = await readJson(await withoutPreamble(asUtf8(body, report)), visitor);
  if (!visitor.isPlaywright)
    throw new WrongFormat(
      `The body is not a Playwright JSON report: ${breakage === null ? 'it has no suites' : `it ${breakage}`}.`,
    );
  if (breakage !== null) report.warnOfBreak(breakage);
};

const OPEN_BRACE = 0x7b;
const LINE_START = Buffer.of(NEWLINE, OPEN_BRACE);
/** So many objects before the report are looked at, and this many times the bytes of the body. */
const OBJECTS_MAX = 10_000;
const READ_FACTOR_MAX = 3;

/**
 * npm, the configuration of the tests and a global set-up may print to standard output before the report, also in JSON.
 * The report is the first object at the beginning of a line that has suites; without one, the first object.
 */
async function withoutPreamble(body: Uint8Array): Promise<Uint8Array> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const first = bytes[0] === OPEN_BRACE ? 0 : startAfter(bytes, 0);
  if (first < 0) return body;
  let bytesLeft = READ_FACTOR_MAX * bytes.length;
  for (let start = first, objects = 0; start >= 0 && objects < OBJECTS_MAX && bytesLeft > 0; objects++) {
    const lineEnd = bytes.indexOf(NEWLINE, start);
    const line = bytes.subarray(start, lineEnd < 0 ? bytes.length : lineEnd);
    // A line of a log is a whole object; only one that continues on the next line is read further.
    const isLogged = line.length > 1 && isObject(line) && !(await hasSuites(line));
    const rest = isLogged ? line : bytes.subarray(start);
    if (!isLogged && (await hasSuites(rest))) return bytes.subarray(start);
    bytesLeft -= rest.length;
    start = startAfter(bytes, start + (isLogged ? line.length : 1));
  }
  return bytes.subarray(first);
}

/** Where the next line begins with a brace; -1 if none does. */
function startAfter(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(LINE_START, from);
  return found < 0 ? -1 : found + 1;
}

function isObject(line: Uint8Array): boolean {
  if (line.length > LOG_LINE_BYTES_MAX) return false;
  try {
    JSON.parse(Buffer.from(line).toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

const LOG_LINE_BYTES_MAX = 1024 * 1024;

/** Stops reading where the suites begin. */
class SuitesFound extends Error {}

async function hasSuites(body: Uint8Array): Promise<boolean> {
  const visitor: JsonVisitor = {
    visit: ([name], kind) => {
      if (name === 'suites' && kind === 'array') throw new SuitesFound();
      return 'skip';
    },
    value: () => {},
    tooLarge: () => {},
  };
  try {
    await readJson(body, visitor);
    return false;
  } catch (error) {
    return error instanceof SuitesFound;
  }
}

export const isOtherPlaywright = (body: Uint8Array): boolean => isOtherJson(body, isOfReport);

const isOfReport = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'suites' in value && Array.isArray(value.suites);
