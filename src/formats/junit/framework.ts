/** Which test runner wrote a report, where the report itself says so; never a guess from file names or test names. */
import type { Listing } from '../../domain/records.ts';
import type { Runner } from '../report.ts';
import type { XmlAttributes } from '../xml.ts';

interface KnownRunner {
  element: 'testsuites' | 'testsuite';
  name: string;
  framework: string;
  language: string | null;
}

/** Names that a runner's own reporter gives to its root or to each suite by default. */
const KNOWN: readonly KnownRunner[] = [
  { element: 'testsuites', name: 'jest tests', framework: 'jest', language: null },
  { element: 'testsuites', name: 'vitest tests', framework: 'vitest', language: null },
  { element: 'testsuites', name: 'Mocha Tests', framework: 'mocha', language: null },
  { element: 'testsuite', name: 'Mocha Tests', framework: 'mocha', language: null },
  { element: 'testsuites', name: 'bun test', framework: 'bun', language: null },
  { element: 'testsuites', name: 'pytest tests', framework: 'pytest', language: 'python' },
  { element: 'testsuite', name: 'pytest', framework: 'pytest', language: 'python' },
  { element: 'testsuite', name: 'rspec', framework: 'rspec', language: 'ruby' },
  { element: 'testsuites', name: 'nextest-run', framework: 'nextest', language: 'rust' },
];

export function runnerOf(element: string, name: string | undefined): Runner | null {
  const known = KNOWN.find((one) => one.element === element && one.name === name);
  return known ? { framework: known.framework, frameworkVersion: null, language: known.language } : null;
}

/** The order in which Gradle writes the attributes of a suite: it says nothing else of itself, and no other writer has it. */
const GRADLE = 'name,tests,skipped,failures,errors,timestamp,hostname,time';

/** A writer that a suite shows by its form, where no name does. */
export function runnerBySuite(attributes: XmlAttributes): Runner | null {
  if (writerOf(attributes) === 'surefire') return { framework: 'surefire', frameworkVersion: null, language: null };
  return Object.keys(attributes).join(',') === GRADLE
    ? { framework: 'gradle', frameworkVersion: null, language: null }
    : null;
}

/** PHPUnit writes the class twice: with backslashes, and with dots. */
export const runnerByTest = ({ class: className, classname, assertions }: XmlAttributes): Runner | null =>
  className !== undefined && assertions !== undefined && classname === className.replaceAll('\\', '.')
    ? { framework: 'phpunit', frameworkVersion: null, language: 'php' }
    : null;

/** Runners that write only the last attempt of a test, or put the others into it. */
const LISTINGS: Readonly<Record<string, Listing>> = {
  bun: 'never',
  jest: 'never',
  mocha: 'never',
  nextest: 'never',
  pytest: 'reruns',
  rspec: 'never',
  vitest: 'never',
};

/** The writer of a suite, where the meaning of its tests depends on it. */
export type Writer = 'surefire' | 'testng' | null;

/** TestNG has its own reporter, which writes times like no other. */
export function writerOf(attributes: XmlAttributes): Writer {
  if (attributes['xsi:noNamespaceSchemaLocation']?.includes('surefire')) return 'surefire';
  return /\d UTC$/.test(attributes.timestamp ?? '') ? 'testng' : null;
}

/** How the runner of a report lists a test more than once. */
export function listingOf(framework: string | null, writer: Writer, attributes: XmlAttributes): Listing {
  if (framework !== null) return LISTINGS[framework] ?? 'attempts';
  // TestNG gives one name to all rows of a test, and calls attempts that failed skipped.
  if (writer === 'testng') return 'never';
  return isOfNode(attributes) || isOfCtest(attributes) ? 'never' : 'attempts';
}

/** node:test has no retries, and the same class for all tests. */
const isOfNode = ({ classname }: XmlAttributes): boolean => classname === 'test' || classname === 'suite';

/** CTest writes the last attempt of a test. No other runner says "fail" of a test whose class is its name. */
const isOfCtest = ({ classname, name, status }: XmlAttributes): boolean =>
  classname === name && (status === 'run' || status === 'fail' || status === 'disabled' || status === 'notrun');

/** Classes that are the same for every test of a runner, or stand for none. */
const SAY_NOTHING: ReadonlySet<string> = new Set(['', 'test', 'tests', 'suite', 'undefined', 'null']);

export const saysNothing = (classname: string): boolean => SAY_NOTHING.has(classname.trim().toLowerCase());
