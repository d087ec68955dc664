/** From the elements of a JUnit report to executions. A test is kept only once its element is closed. */

import { joinedAxes } from '../../domain/axes.ts';
import { DETAIL_BYTES_MAX, FAILURES_MAX } from '../../domain/limits.ts';
import type { Home } from '../../domain/namesakes.ts';
import type { Status } from '../../domain/status.ts';
import { cleanText, cutText } from '../../domain/text.ts';
import { FILES_MAX } from '../attachments.ts';
import { axesFrom } from '../environment.ts';
import { LongText } from '../long-text.ts';
import { type NamePath, pathWithin } from '../path.ts';
import { cutFailure, type Report } from '../report.ts';
import { parseSeconds, parseTimestamp } from '../time.ts';
import type { ParsedFailure } from '../upload.ts';
import type { XmlAttributes, XmlHandler } from '../xml.ts';
import {
  type Announced,
  announcedBy,
  areSkipped,
  countedAround,
  missingFailuresOf,
  missingTestsOf,
  type Present,
  withTest,
} from './announced.ts';
import { finishTest, type SuiteClock, suiteClock } from './clock.ts';
import {
  listingOf,
  runnerByProperty,
  runnerBySuite,
  runnerByTest,
  runnerOf,
  saysNothing,
  type Writer,
  writerOf,
} from './framework.ts';
import { hasEndedProcess, PACKAGE_TEST } from './go-process.ts';
import { AttachmentMarks, namesFile } from './marks.ts';
import { isNotStarted, isStrayError, isTodo, skipReason, statedStatus } from './outcome.ts';
import { Properties } from './properties.ts';

interface Suite {
  name: string;
  /** With the suites around it; made when its first test comes. */
  path: NamePath | null;
  file: string | null;
  hostname: string | null;
  properties: Properties;
  writer: Writer;
  clock: SuiteClock;
  announced: Announced;
  present: Present;
}

/** Warnings of one kind in a receipt. */
const WARNINGS_MAX = 5;
const SHOWN_LENGTH_MAX = 200;

/** A `<testcase>` that is open. */
interface Case {
  attributes: XmlAttributes;
  /** Its own; null while it has none. */
  properties: Properties | null;
  isFailed: boolean;
  isSkipped: boolean;
  isTodo: boolean;
  /** Whether it is skipped because it failed: the attempt is run again. */
  isAttempt: boolean;
  /** Whether all that it says is an error that came after its failure. */
  isAddition: boolean;
  hasFlakyAttempt: boolean;
  hasRerun: boolean;
  /** All of them; `failures` are those that are kept. */
  attempts: { failed: number; others: number };
  failures: ParsedFailure[];
  /** Null while it names none. */
  marks: AttachmentMarks | null;
}

/** An open element that describes a failed attempt, and its text so far. */
interface Attempt {
  attributes: XmlAttributes;
  text: LongText;
}

/** Meaning of each element within a test. */
const OUTCOMES: Readonly<Record<string, 'failed' | 'flaky' | 'rerun'>> = {
  failure: 'failed',
  error: 'failed',
  flakyFailure: 'flaky',
  flakyError: 'flaky',
  rerunFailure: 'rerun',
  rerunError: 'rerun',
};

const OUTPUTS: ReadonlySet<string> = new Set(['system-out', 'system-err']);

function marksOf(open: Case): AttachmentMarks {
  open.marks ??= new AttachmentMarks();
  return open.marks;
}

/** Why a `<testcase>` is not an execution. */
const NAMELESS = 'the testcase has neither name nor classname';

export class JunitHandler implements XmlHandler {
  readonly #suites: Suite[] = [];
  #case: Case | null = null;
  #attempt: Attempt | null = null;
  /** Whether a suite has the name of a project in place of the host. */
  #hasProjects = false;
  /** The file of Mocha's root suite, which is beside the suites in it. */
  #rootFile: string | null = null;
  #suiteErrors = 0;
  #stops = 0;
  readonly #unknownWords = new Set<string>();
  #missing = 0;
  /** Counts of suites that do not say how many of theirs were skipped; the root may. */
  readonly #unsaid = { tests: 0, sentences: [] as string[] };
  #skipped = 0;
  /** Depth below the open attempt, to tell its own text from that of e.g. a `<system-out>` in it. */
  #foreign: string[] = [];
  /** Whether what a test or suite printed is being read. */
  #isOutput = false;

  constructor(readonly report: Report) {}

  open(element: string, attributes: XmlAttributes): void {
    if (OUTPUTS.has(element)) this.#isOutput = true;
    if (this.#attempt) this.#foreign.push(element);
    else if (this.#case) this.#openInCase(element, attributes);
    else if (element === 'testcase') this.#openCase(attributes);
    else if (element === 'testsuite' || element === 'testsuites') this.#openSuite(element, attributes);
    else if (element === 'property') this.#readProperty(attributes);
    else if (OUTCOMES[element] === 'failed') this.#attempt = { attributes, text: new LongText() };
  }

  #readProperty(attributes: XmlAttributes): void {
    if (this.report.runner.framework === null) this.report.runner = runnerByProperty(attributes) ?? this.report.runner;
    this.#suites.at(-1)?.properties.add(attributes);
  }

  /** Text or CDATA. Surefire puts the text of an attempt into a `<stackTrace>`. */
  text(text: string): void {
    if (this.#isOutput && this.#case) marksOf(this.#case).add(text);
    if (this.#attempt && this.#foreign.every((element) => element === 'stackTrace')) this.#attempt.text.add(text);
  }

  close(element: string): void {
    if (OUTPUTS.has(element)) this.#isOutput = false;
    if (this.#foreign.pop() !== undefined) return;
    if (this.#attempt) this.#closeAttempt();
    else if (this.#case) {
      if (element === 'testcase') this.#closeCase(this.#case);
    } else if (element === 'testsuite' || element === 'testsuites') this.#closeSuite();
  }

  /** A runner that crashes, cannot set up or stops early announces more than it has written down. */
  #closeSuite(): void {
    const closed = this.#suites.pop();
    if (!closed) return;
    const { announced, present } = closed;
    const around = this.#suites.at(-1);
    if (around) {
      const { tests, failures } = countedAround(announced, present);
      around.present.tests += tests;
      around.present.failures += failures;
    }
    const failures = missingFailuresOf(shown(closed.name), announced, present);
    if (failures !== undefined) this.#warnOfMissing(failures);
    const missing = missingTestsOf(shown(closed.name), announced, present);
    if (missing && around && missing.mayBeSkipped) {
      this.#unsaid.tests += missing.tests;
      if (this.#unsaid.sentences.length < WARNINGS_MAX) this.#unsaid.sentences.push(missing.sentence);
    } else if (missing) this.#warnOfMissing(missing.sentence);
    if (!around && !areSkipped(announced, this.#unsaid.tests, this.#skipped))
      for (const sentence of this.#unsaid.sentences) this.#warnOfMissing(sentence);
  }

  #warnOfMissing(sentence: string): void {
    if (++this.#missing <= WARNINGS_MAX) this.report.warnOfTrouble(sentence);
  }

  /** An error that belongs to a suite, such as of its set-up: not a test, but the receipt shows it. */
  #closeSuiteError({ attributes, text }: Attempt): void {
    const suite = this.#suites.at(-1);
    if (suite) suite.present.failures++;
    if (++this.#suiteErrors > WARNINGS_MAX) return;
    const message =
      nonEmpty(attributes.message) ?? firstLine(text.trimmed()) ?? nonEmpty(attributes.type) ?? 'no message';
    this.report.warnOfTrouble(
      `The suite ${shown(suite?.name ?? '')} reports an error outside of its tests: ${shown(message)}`,
    );
  }

  #warnOfStop(): void {
    const { classname, name } = this.#case?.attributes ?? {};
    const test = shown([classname, name].filter((part) => part).join('.'));
    if (++this.#stops <= WARNINGS_MAX)
      this.report.warnOfTrouble(`The test ${test} ended its process: others may not have run.`);
  }

  #openSuite(element: string, attributes: XmlAttributes): void {
    if (this.report.runner.framework === null)
      this.report.runner = runnerOf(element, attributes.name) ?? runnerBySuite(attributes) ?? this.report.runner;
    const { framework } = this.report.runner;
    this.#hasProjects ||= hasProjects(element, attributes) && (framework === null || framework === 'playwright');
    // Cypress names its file there only, and not in the suites that follow.
    if (framework === 'mocha' && attributes.name === 'Root Suite')
      this.#rootFile = cutDetail(nonEmpty(attributes.file));
    const around = this.#suites.at(-1);
    const timestampMs = this.#timeOf(attributes);
    this.#suites.push({
      // The root's name is left out: one report may be written with and without a root.
      name: element === 'testsuite' ? (attributes.name ?? '') : '',
      path: null,
      // Cut here, once, and not for each of its tests.
      file: cutDetail(nonEmpty(attributes.file)) ?? around?.file ?? this.#rootFile,
      hostname: cutDetail(nonEmpty(attributes.hostname)),
      properties: new Properties(around?.properties),
      writer: writerOf(attributes) ?? around?.writer ?? null,
      clock: suiteClock(timestampMs, around?.clock),
      announced: announcedBy(attributes, this.report.runner.framework),
      present: { tests: 0, failures: 0 },
    });
  }

  #openCase(attributes: XmlAttributes): void {
    this.report.count();
    if (this.report.runner.framework === null) this.report.runner = runnerByTest(attributes) ?? this.report.runner;
    this.#case = {
      attributes,
      properties: null,
      isFailed: false,
      isSkipped: false,
      isTodo: false,
      isAttempt: false,
      isAddition: false,
      hasFlakyAttempt: false,
      hasRerun: false,
      attempts: { failed: 0, others: 0 },
      failures: [],
      marks: null,
    };
  }

  #openInCase(element: string, attributes: XmlAttributes): void {
    const open = this.#case;
    if (!open) return;
    const outcome = OUTCOMES[element];
    if (outcome === undefined) {
      if (element === 'skipped') this.#skip(open, attributes);
      else if (element === 'property') {
        if (namesFile(attributes.name ?? '') && attributes.value) marksOf(open).files.push({ path: attributes.value });
        open.properties ??= new Properties(this.#suites.at(-1)?.properties);
        open.properties.addOfTest(attributes);
      }
      return;
    }
    open.isAddition = !open.isFailed && element === 'error' && isStrayError(attributes);
    if (outcome === 'flaky') open.hasFlakyAttempt = true;
    else open.isFailed = true;
    open.attempts[outcome === 'failed' ? 'failed' : 'others']++;
    if (outcome === 'rerun') open.hasRerun = true;
    this.#attempt = { attributes, text: new LongText() };
  }

  #skip(open: Case, attributes: XmlAttributes): void {
    if (isNotStarted(open.attributes, attributes)) {
      open.isFailed = true;
      open.failures.push(cutFailure({ attempt: 1, type: null, message: attributes.message ?? null, stacktrace: null }));
      return;
    }
    open.isSkipped = true;
    open.isTodo = isTodo(attributes);
    const reason = skipReason(attributes, this.#suites.at(-1)?.writer === 'surefire');
    if (reason === null) return;
    open.isAttempt = true;
    open.failures.push(cutFailure({ attempt: 1, ...reason, stacktrace: null }));
  }

  #closeAttempt(): void {
    const attempt = this.#attempt;
    this.#attempt = null;
    const failures = this.#case?.failures;
    if (!attempt) return;
    if (!failures) {
      this.#closeSuiteError(attempt);
      return;
    }
    // One more than is kept, so that the receipt says that there were more.
    if (failures.length > FAILURES_MAX) return;
    const { attributes, text } = attempt;
    const stacktrace = text.trimmed();
    if (stacktrace !== null && hasEndedProcess(stacktrace)) this.#warnOfStop();
    const message = nonEmpty(attributes.message) ?? nonEmpty(firstLine(stacktrace));
    failures.push(cutFailure({ attempt: failures.length + 1, type: nonEmpty(attributes.type), message, stacktrace }));
  }

  #closeCase(closed: Case): void {
    this.#case = null;
    const { attributes, attempts, failures, hasFlakyAttempt } = closed;
    const durationSeconds = parseSeconds(attributes.time);
    const clocks = this.#suites.map((suite) => suite.clock);
    const finishedAtMs = finishTest(this.#timeOf(attributes), durationSeconds, clocks);
    const status = this.#statusOf(closed);
    if (status === 'skipped') this.#skipped++;
    const suite = this.#suites.at(-1);
    if (suite) {
      suite.present.tests += 1 + attempts.others;
      suite.present.failures += Math.max(attempts.failed + attempts.others, status === 'failed' ? 1 : 0);
      suite.announced = withTest(suite.announced, attributes);
    }
    const className = attributes.name === PACKAGE_TEST ? attributes.classname || suite?.name : attributes.classname;
    const name = [className, attributes.name].filter((part) => part).join('.');
    if (name === '') {
      this.report.reject(NAMELESS, '', durationSeconds);
      return;
    }
    const home = this.#homeOf(attributes);
    const project = this.#hasProjects && home.project !== null ? axesFrom({ project: home.project }) : undefined;
    const axes = joinedAxes((closed.properties ?? suite?.properties)?.axes, project);
    const { framework } = this.report.runner;
    this.report.add({
      place: [home.suites, name],
      name,
      status,
      durationSeconds,
      finishedAtMs,
      filepath: home.file,
      function: nonEmpty(attributes.name),
      isFlaky: hasFlakyAttempt && status === 'passed',
      isRetried: hasFlakyAttempt || closed.hasRerun,
      failures,
      listing: home.project === null ? listingOf(framework, suite?.writer ?? null, attributes) : 'never',
      part: closed.isAttempt ? 'attempt' : closed.isAddition && framework === 'pytest' ? 'addition' : 'whole',
      home,
      // Playwright names them from the folder of its report, others from where the tests ran.
      files: closed.marks?.files.slice(0, FILES_MAX).map((file) => ({ ...file, isBeside: this.#hasProjects })),
      ...(axes && { axes }),
    });
  }

  /** An element says it better than a word, and what is to be done is expected to fail. */
  #statusOf({ attributes, isFailed, isSkipped, isTodo: isToBeDone, hasFlakyAttempt }: Case): Status {
    if (isFailed && !isToBeDone) return 'failed';
    if (isSkipped) return 'skipped';
    if (hasFlakyAttempt) return 'passed';
    const { status, unknown } = statedStatus(attributes);
    for (const word of unknown)
      if (this.#unknownWords.size < WARNINGS_MAX && !this.#unknownWords.has(word)) {
        this.#unknownWords.add(word);
        this.report.warn(`The status ${shown(word)} is not known. Tests that have it count as passed.`);
      }
    return status;
  }

  #homeOf({ classname = '', name = '', file }: XmlAttributes): Home {
    const suite = this.#suites.at(-1);
    return {
      suites: this.#path(),
      file: nonEmpty(file) ?? suite?.file ?? null,
      // Playwright has a suite for each file and project, and the project in place of the host.
      project: suite && suite.name === classname && isScript(classname) ? suite.hostname : null,
      className: saysNothing(classname) ? null : classname,
      ownName: name,
    };
  }

  /** The names of the open suites. */
  #path(): NamePath {
    let path: NamePath = [];
    for (const suite of this.#suites) {
      suite.path ??= suite.name === '' ? path : pathWithin(path, suite.name);
      path = suite.path;
    }
    return path;
  }

  #timeOf({ timestamp }: XmlAttributes): number | null {
    const timeMs = parseTimestamp(timestamp);
    if (timeMs !== null) this.report.noticeTime(timeMs);
    return timeMs;
  }
}

const shown = (text: string): string => cleanText(text.slice(0, SHOWN_LENGTH_MAX)) || '(without a name)';

/** Playwright's root has an id, which no other runner's that writes the host of a suite has. */
const hasProjects = (element: string, { id, name }: XmlAttributes): boolean =>
  element === 'testsuites' && id !== undefined && name !== undefined;

const isScript = (name: string): boolean => /\.[cm]?[jt]sx?$/.test(name);

const cutDetail = (text: string | null): string | null => text && cutText(text, DETAIL_BYTES_MAX);

const nonEmpty = (text: string | null | undefined): string | null => (text ? text : null);

function firstLine(text: string | null): string | null {
  if (text === null) return null;
  const end = text.indexOf('\n');
  return (end < 0 ? text : text.slice(0, end)).trim();
}
