/**
 * Reads a JUnit XML report, strictly and piece by piece (design §6 "JUnit mapping" and "Limits"). A report that breaks off
 * keeps its whole tests and says where it broke; DTDs, and with them entities of its own, are refused.
 *
 * Every way to make much of little is bounded: nesting, attributes of an element, the length of an attribute (which the
 * parser joins from single characters), tests of a report. Large reports leave the event loop to others between pieces.
 */
import sax from 'sax';
import { UPLOAD_EXECUTIONS_MAX } from '../../domain/limits.ts';
import type { Run } from '../../queue/test-runs.ts';
import { UploadCollector } from '../collect.ts';
import { InvalidUpload, UploadTooLarge } from '../errors.ts';
import { Turns } from '../turns.ts';
import type { ParsedUpload } from '../upload.ts';
import { decodedPieces } from './encoding.ts';
import { JunitReport } from './report.ts';

const DEPTH_MAX = 100;
const ATTRIBUTES_MAX = 200;
/** Of an attribute or comment, in UTF-16 units. pytest writes whole tracebacks into `message`; sax would stop at 64 Ki. */
const TOKEN_LENGTH_MAX = 4 * 1024 * 1024;
/** 100,000 tests with dozens of properties each; an empty element takes four bytes, and gzip makes nothing of them. */
const ELEMENTS_MAX = 5_000_000;

export interface JunitOptions {
  /** What is known of the run; framework and language are filled in where the report says so. */
  run: Run;
  /** Tells the reports of a run apart (a shard's, a file's). */
  report: string;
  /** When the tests began, milliseconds since the epoch: the report's clock is shifted there. */
  startedAtMs?: number;
  executionsMax?: number;
}

/** The unit of resending of a JUnit report (design §5 "Execution"). */
export const junitSource = (run: Run, report: string): string =>
  JSON.stringify(['junit', run.pipeline_name, run.job_name, run.run_id, run.run_attempt, report]);

/** Executions of a report. Throws InvalidUpload and UploadTooLarge. */
export async function parseJunit(body: Uint8Array, options: JunitOptions): Promise<ParsedUpload> {
  const { executionsMax = UPLOAD_EXECUTIONS_MAX } = options;
  const collector = new UploadCollector(executionsMax);
  const report = new JunitReport({
    source: junitSource(options.run, options.report),
    executionsMax,
    reject: (reason, name) => collector.reject(reason, name),
  });
  const breakage = await readXml(body, report);
  if (breakage !== null) {
    const kept = report.executions.length;
    const whole =
      kept === 0 ? 'No test before it was whole' : `The ${kept} before it ${kept === 1 ? 'is' : 'are'} kept`;
    collector.warn(`The report ${breakage}. ${whole}; what followed is lost.`);
  }
  const run = collector.run({
    ...options.run,
    framework: options.run.framework ?? report.framework?.framework ?? null,
    language: options.run.language ?? report.framework?.language ?? null,
  });
  const { startedAtMs } = options;
  const executions =
    startedAtMs === undefined
      ? report.executions
      : report.clock.settle(report.executions, report.offsetsS, startedAtMs);
  for (const execution of executions) collector.add(run, execution);
  return collector.finish({ keepsEmptyRuns: true });
}

/** Where the report stopped being XML. */
class Malformed extends Error {}

/** Tells the report of its elements; returns how the XML breaks off, in words, or null when it is whole. */
async function readXml(body: Uint8Array, report: JunitReport): Promise<string | null> {
  const parser = saxParser(report);
  try {
    const turns = new Turns();
    for (const piece of decodedPieces(body)) {
      parser.write(piece);
      // Text is handed on before it grows long.
      parser.flush();
      if (turns.isOver()) await turns.rest();
    }
    parser.close();
    return parser.hasRoot() ? null : notJunit('it holds no element');
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return parser.hasRoot() ? error.message : notJunit(`it ${error.message}`);
  }
}

function notJunit(why: string): never {
  throw new InvalidUpload(`The body is not a JUnit XML report: ${why}.`);
}

interface XmlParser {
  write(text: string): void;
  flush(): void;
  close(): void;
  hasRoot(): boolean;
}

function saxParser(report: JunitReport): XmlParser {
  // A setting of the module, not of a parser; nothing else here uses sax.
  Object.assign(sax, { MAX_BUFFER_LENGTH: TOKEN_LENGTH_MAX });
  const options: sax.SAXOptions & SaxOptionsUntyped = { strictEntities: true, position: true };
  const parser = sax.parser(true, options);
  const open: string[] = [];
  let hasRoot = false;
  let elementCount = 0;
  let attributeCount = 0;
  parser.onopentagstart = ({ name }) => {
    attributeCount = 0;
    if (!hasRoot && name !== 'testsuites' && name !== 'testsuite')
      notJunit(`its root is <${name.slice(0, 100)}>, not <testsuites> or <testsuite>`);
    hasRoot = true;
    if (++elementCount > ELEMENTS_MAX)
      throw new UploadTooLarge(`The report holds more than ${ELEMENTS_MAX} elements. Send it in several uploads.`);
    if (open.push(name) > DEPTH_MAX) notJunit(`it nests elements more than ${DEPTH_MAX} deep`);
  };
  parser.onattribute = () => {
    if (++attributeCount > ATTRIBUTES_MAX) notJunit(`an element has more than ${ATTRIBUTES_MAX} attributes`);
  };
  parser.onopentag = ({ name, attributes }) => report.open(name, attributes as Record<string, string>);
  parser.ontext = (text) => report.text(text);
  parser.oncdata = (text) => report.text(text);
  parser.onclosetag = (name) => {
    open.pop();
    report.close(name);
  };
  parser.ondoctype = () => notJunit('it has a document type declaration (DTD), which is never accepted');
  parser.onsgmldeclaration = () => notJunit('it holds a declaration (<!…>), which is never accepted');
  parser.onerror = (error) => {
    if (isForgivable(parser, error)) parser.resume();
    else throw new Malformed(breakageOf(error, parser.line + 1, open.at(-1)));
  };
  return {
    write: (text) => void parser.write(text),
    flush: () => parser.flush(),
    close: () => void parser.close(),
    hasRoot: () => hasRoot,
  };
}

/** Options of sax that its types leave out. */
interface SaxOptionsUntyped {
  /** The five entities of XML only, not those of HTML. */
  strictEntities: boolean;
}

/** State of sax that its types leave out. */
interface SaxInternals {
  entity?: string;
  attribName?: string;
}

/**
 * `&#27;` is no XML, but runners write the colours of a terminal so: it stays as it was written. In a name it would make a
 * test that nobody has, so there NUL and surrogates are refused like the characters themselves.
 */
function isForgivable(parser: sax.SAXParser, error: Error): boolean {
  const { entity = '', attribName = '' } = parser as SaxInternals;
  if (!error.message.startsWith('Invalid character entity') || !entity.startsWith('#')) return false;
  const isName = attribName === 'name' || attribName === 'classname';
  if (isName && /^#(?:0+|x0+|x0*d[89a-f][0-9a-f]{2})$/i.test(entity))
    throw new InvalidUpload(`A test name holds &${entity};, which is no character. Nothing was stored.`);
  return true;
}

function breakageOf(error: Error, line: number, element: string | undefined): string {
  const what = error.message.split('\n')[0] ?? '';
  const where = element === undefined ? '' : ` within <${element.slice(0, 100)}>`;
  return /^Unclosed root tag|^Unexpected end/.test(what)
    ? `is cut short at line ${line}${where}`
    : `is not well-formed XML at line ${line}${where} (${what})`;
}
