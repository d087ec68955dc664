/**
 * Reads an XML report piece by piece. A report that breaks off keeps what it contained until then. DTDs are refused, and
 * with them custom entities. Lines of a log around it are passed over, and so are `&` and `<` that begin nothing.
 *
 * Everything that a small body could blow up is bounded: nesting, elements, attributes, character references, the length
 * of an attribute and that of tags. Large reports yield to the event loop between pieces.
 */
import sax from 'sax';
import { UPLOAD_LIMITS } from '../domain/limit-table.ts';
import {
  DEPTH_MAX,
  XML_ATTRIBUTES_MAX,
  XML_MARKUP_LENGTH_MAX,
  XML_MARKUP_LENGTH_PER_TEST,
  XML_PARTS_MAX,
  XML_PARTS_PER_TEST,
  XML_TOKEN_LENGTH_MAX,
} from '../domain/limits.ts';
import { InvalidUpload, UploadTooLarge, WrongFormat } from './errors.ts';
import type { Report } from './report.ts';
import { TimeSlice } from './time-slice.ts';
import { XmlFeed } from './xml-feed.ts';
import { decodedPieces } from './xml-text.ts';

export type XmlAttributes = Readonly<Record<string, string>>;

/** Receives the elements as they open and close, and their text in between. */
export interface XmlHandler {
  /** Its tests may take more elements than the rest. */
  readonly report: Report;
  open(element: string, attributes: XmlAttributes): void;
  /** Text or CDATA, in as many pieces as it comes. */
  text(text: string): void;
  close(element: string): void;
}

export interface XmlReport {
  /** For messages: "JUnit XML". */
  title: string;
  roots: readonly [string, ...string[]];
  /** The attributes from which the name of a test is made. */
  nameAttributes: readonly string[];
  /** How much each test may add to a report; absent: as in most formats. */
  allowance?: XmlAllowance;
}

/** So much more of it a report may have for each test in it. */
interface XmlAllowance {
  parts: number;
  markupLength: number;
  tooManyParts(): string;
  tooMuchMarkup(): string;
}

const USUAL: XmlAllowance = {
  parts: XML_PARTS_PER_TEST,
  markupLength: XML_MARKUP_LENGTH_PER_TEST,
  tooManyParts: () => UPLOAD_LIMITS.XML_PARTS_MAX.sentence(),
  tooMuchMarkup: () => UPLOAD_LIMITS.XML_MARKUP_LENGTH_MAX.sentence(),
};

/** Where the report stopped being XML. */
class Malformed extends Error {}

/** Returns how the XML breaks off, such as "is cut short at line 5", or null if it is complete. */
export async function readXml(body: Uint8Array, report: XmlReport, handler: XmlHandler): Promise<string | null> {
  const reader = new XmlReader(report, handler);
  const slice = new TimeSlice();
  try {
    for (const piece of decodedPieces(body, handler.report)) {
      reader.write(piece);
      if (slice.isUsedUp()) await slice.yieldToOthers();
    }
    reader.close();
    return reader.hasRoot ? null : reader.refuse('it holds no element');
  } catch (error) {
    if (!(error instanceof Malformed)) throw error;
    return reader.hasRoot ? error.message : reader.refuse(`it ${error.message}`);
  }
}

class XmlReader {
  hasRoot = false;
  #isFirst = true;
  readonly #parser: sax.SAXParser;
  readonly #feed: XmlFeed;
  readonly #openElements: string[] = [];
  readonly #allowance: XmlAllowance;
  /** Elements, attributes and character references. */
  #partCount = 0;
  #attributeCount = 0;
  /** Length of everything that sax looks at. */
  #markupLength = 0;
  /** Characters that make the attributes of the open tag unfit to be names. */
  readonly #unfit = new Map<string, string>();

  constructor(
    private readonly report: XmlReport,
    private readonly handler: XmlHandler,
  ) {
    // A setting of the module, not of one parser; nothing else here uses sax.
    Object.assign(sax, { MAX_BUFFER_LENGTH: XML_TOKEN_LENGTH_MAX });
    const options: sax.SAXOptions & SaxOptionsUntyped = { strictEntities: false, position: true };
    const parser = sax.parser(true, options);
    this.#parser = parser;
    this.#allowance = report.allowance ?? USUAL;
    this.#feed = new XmlFeed(parser, (length) => this.#countMarkup(length), true);
    parser.onopentagstart = ({ name }) => this.#open(name);
    parser.onattribute = () => {
      this.#countPart();
      if (++this.#attributeCount > XML_ATTRIBUTES_MAX)
        throw new InvalidUpload(UPLOAD_LIMITS.XML_ATTRIBUTES_MAX.sentence());
    };
    parser.onopentag = ({ name, attributes }) => {
      handler.open(name, this.#withUnfit(attributes as Record<string, string>));
    };
    parser.ontext = (text) => handler.text(text);
    parser.oncdata = (text) => handler.text(text);
    parser.onclosetag = (name) => {
      this.#openElements.pop();
      handler.close(name);
    };
    parser.ondoctype = () => this.refuse('it has a document type declaration (DTD), which is never accepted');
    parser.onsgmldeclaration = () => this.refuse('it holds a declaration (<!…>), which is never accepted');
    parser.onerror = (error) => this.#onError(error);
  }

  write(piece: string): void {
    const text = this.#isFirst ? this.#withoutPreamble(piece) : piece;
    this.#isFirst = false;
    for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) this.#countPart();
    this.#feed.write(text);
    // Passes text on before it grows long.
    this.#parser.flush();
  }

  close(): void {
    this.#feed.write('', true);
    this.#parser.close();
  }

  /** Lines that a command prints to standard output before a report that goes there, too. */
  #withoutPreamble(text: string): string {
    if (/^\s*(?:<|$)/.test(text)) return text;
    const starts = ['<?xml', ...this.report.roots.map((root) => `<${root}`)].map((start) => text.indexOf(start));
    const first = Math.min(...starts.filter((start) => start >= 0));
    return Number.isFinite(first) ? text.slice(first) : text;
  }

  refuse(why: string): never {
    throw new WrongFormat(`The body is not a ${this.report.title} report: ${why}.`);
  }

  #countPart(): void {
    const { parts, tooManyParts } = this.#allowance;
    if (++this.#partCount > XML_PARTS_MAX + this.handler.report.testCount * parts)
      throw new UploadTooLarge(tooManyParts());
  }

  #countMarkup(length: number): void {
    this.#markupLength += length;
    const { markupLength, tooMuchMarkup } = this.#allowance;
    if (this.#markupLength > XML_MARKUP_LENGTH_MAX + this.handler.report.testCount * markupLength)
      throw new UploadTooLarge(tooMuchMarkup());
  }

  #withUnfit(attributes: Record<string, string>): Record<string, string> {
    for (const [name, character] of this.#unfit) attributes[name] += character;
    this.#unfit.clear();
    return attributes;
  }

  #open(name: string): void {
    const { roots } = this.report;
    this.#attributeCount = 0;
    if (!this.hasRoot && !roots.includes(name))
      this.refuse(`its root is <${name.slice(0, 100)}>, not ${roots.map((root) => `<${root}>`).join(' or ')}`);
    this.hasRoot = true;
    this.#countPart();
    if (this.#openElements.push(name) > DEPTH_MAX)
      throw new InvalidUpload(UPLOAD_LIMITS.DEPTH_MAX.sentence('report', 'elements'));
  }

  #onError(error: Error): void {
    if (!this.#isForgivable(error)) throw new Malformed(this.#breakOf(error));
    this.#parser.resume();
  }

  /**
   * Unknown entities stay as they were written: a DTD that could define them is refused. `&#27;` is not XML either, but
   * runners write the colours of a terminal that way. In a name NUL and surrogates would make a test that does not exist:
   * they are added to it as the characters they are, for which the test is refused.
   */
  #isForgivable(error: Error): boolean {
    const { entity = '', attribName = '' } = this.#parser as SaxInternals;
    if (!error.message.startsWith('Invalid character entity')) return false;
    if (!this.report.nameAttributes.includes(attribName)) return true;
    if (/^#(?:0+|x0+)$/i.test(entity)) this.#unfit.set(attribName, '\0');
    else if (/^#x0*d[89a-f][0-9a-f]{2}$/i.test(entity)) this.#unfit.set(attribName, '\ud800');
    return true;
  }

  #breakOf(error: Error): string {
    const what = error.message.split('\n')[0] ?? '';
    const element = this.#openElements.at(-1);
    const where = `at line ${this.#parser.line + 1}${element === undefined ? '' : ` within <${element.slice(0, 100)}>`}`;
    return /^Unclosed root tag|^Unexpected end/.test(what)
      ? `is cut short ${where}`
      : `is not well-formed XML ${where} (${/^Max buffer length/.test(what) ? UPLOAD_LIMITS.XML_TOKEN_LENGTH_MAX.sentence() : what})`;
  }
}

/** Explains what a report with another root is, and what to do about it. */
const HINTS: Readonly<Record<string, string>> = {
  testrun: 'an export of Eclipse or IntelliJ; send the JUnit XML that the build writes',
  'test-results': 'a report of NUnit 2; write TRX with dotnet test --logger trx',
  Catch2TestRun: 'a report of Catch2; write JUnit XML with --reporter junit',
  Catch: 'a report of Catch2; write JUnit XML with --reporter junit',
  doctest: 'a report of doctest; write JUnit XML with --reporters=junit',
  TestLog: 'a report of Boost.Test; write JUnit XML with --logger=JUNIT,all,report.xml',
  TestResult: 'a report of Boost.Test; write JUnit XML with --logger=JUNIT,all,report.xml',
  TestCase: 'a report of Qt Test; write JUnit XML with -o report.xml,junitxml',
  Site: 'a dashboard file of CTest; write JUnit XML with ctest --output-junit report.xml',
  'e:events': 'an Open Test Reporting file; send the JUnit XML that Gradle or Maven writes',
  events: 'an Open Test Reporting file; send the JUnit XML that Gradle or Maven writes',
  'h:execution': 'an Open Test Reporting file; send the JUnit XML that Gradle or Maven writes',
  execution: 'an Open Test Reporting file; send the JUnit XML that Gradle or Maven writes',
  'failsafe-summary': 'a summary of Failsafe, which has no tests; send the JUnit XML beside it',
  testExecutions: 'a generic report of SonarQube; send the JUnit XML that it was made from',
  coverage: 'a coverage report, which has no tests',
  checkstyle: 'a report of a linter, which has no tests',
  html: 'a web page, perhaps an error of a proxy',
};

/** Says which report has this root; null if it is not known. */
export const xmlHint = (root: string): string | null => (Object.hasOwn(HINTS, root) ? (HINTS[root] ?? null) : null);

/** Options of sax that its types leave out. */
interface SaxOptionsUntyped {
  /** Whether to know only the five entities of XML, or also those of HTML, which some reporters write. */
  strictEntities: boolean;
}

/** State of sax that its types leave out. */
interface SaxInternals {
  entity?: string;
  attribName?: string;
}
