/** Which test runner wrote a report, where the report itself says so; never a guess from file names or test names. */
import type { Listing } from '../../domain/records.ts';
import type { Runner } from '../report.ts';
import type { XmlAttributes } from '../xml.ts';

interface KnownRunner {
  element: 'testsuites' | 'testsuite';
  /** A pattern: in parallel, RSpec adds the number of the process. */
  name: string | RegExp;
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
  { element: 'testsuite', name: /^rspec\d*$/, framework: 'rspec', language: 'ruby' },
  { element: 'testsuite', name: 'Cucumber', framework: 'cucumber', language: null },
  { element: 'testsuites', name: 'nextest-run', framework: 'nextest', language: 'rust' },
];

export function runnerOf(element: string, name: string | undefined): Runner | null {
  const known = KNOWN.find(
    (one) =>
      one.element === element &&
      (typeof one.name === 'string' ? one.name === name : name !== undefined && one.name.test(name)),
  );
  return known ? { framework: known.framework, frameworkVersion: null, language: known.language } : null;
}

/**
 * Writers that say nothing else of themselves, by the order in which they write the attributes of an element: no other writer has
 * it.
 */
const BY_ORDER: ReadonlyMap<string, Runner> = new Map([
  ['name,tests,skipped,failures,errors,timestamp,hostname,time', told('gradle')],
  ['name,tests,failures,disabled,skipped,hostname,time,timestamp', told('ctest')],
  ['name,tests,errors,failures,skipped,time,timestamp,hostname', told('behave', 'python')],
  ['name,filepath,skipped,failures,errors,tests,assertions,time', told('minitest', 'ruby')],
  ['name,filepath,skipped,failures,errors,tests,assertions,time,timestamp', told('minitest', 'ruby')],
  ['name,package,id,errors,failures,tests,skipped', told('cargo test', 'rust')],
  ['tests,failures,time,name,timestamp', told('go test', 'go')],
  ['tests,failures,skipped,time,name,timestamp', told('go test', 'go')],
  ['id,name,tests,failures,skipped,errors,time', told('playwright', 'javascript')],
]);

function told(framework: string, language: string | null = null): Runner {
  return { framework, frameworkVersion: null, language };
}

/** A writer that a suite, or the root, shows by its form, where no name does. */
export function runnerBySuite(attributes: XmlAttributes): Runner | null {
  if (writerOf(attributes) === 'surefire') return told('surefire');
  // Catch2 writes no host.
  if (attributes.hostname === 'tbd') return told('catch2');
  // unittest-xml-reporting puts the time behind the class.
  if (attributes.file !== undefined && /^[\w.]+-\d{14}$/.test(attributes.name ?? '')) return told('unittest', 'python');
  return BY_ORDER.get(Object.keys(attributes).join(',')) ?? null;
}

/** gotestsum and go-junit-report say which Go it was. */
export const runnerByProperty = ({ name }: XmlAttributes): Runner | null =>
  name === 'go.version' ? told('go test', 'go') : null;

/** PHPUnit writes the class twice: with backslashes, and with dots. */
export const runnerByTest = ({ class: className, classname, assertions }: XmlAttributes): Runner | null =>
  className !== undefined && assertions !== undefined && classname === className.replaceAll('\\', '.')
    ? told('phpunit', 'php')
    : null;

/** Runners that write only the last attempt of a test, or put the others into it. */
const LISTINGS: Readonly<Record<string, Listing>> = {
  bun: 'never',
  ctest: 'never',
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
