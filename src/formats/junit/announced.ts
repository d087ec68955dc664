/**
 * The counts that a suite announces, beside those of its tests. A runner that stops early, or whose process dies, may have announced more
 * tests or failures than it wrote down; then it is unknown what the others would have shown.
 */
import { counted } from '../report.ts';
import type { XmlAttributes } from '../xml.ts';

export interface Announced {
  /** Null: the suite does not say. mocha-junit-reporter leaves skipped tests out, and counts them in the root only. */
  skipped: number | null;
  /** Without those that are announced as skipped: some runners do not write them down. */
  tests: number;
  /** Failures and errors. */
  failures: number;
  /** Whether it counts something else: Catch2 and doctest announce assertions as tests, and pytest its sub-tests. */
  areAssertions: boolean;
  /** Its suites have no time, as GoogleTest's have, which writes the same of its tests. */
  mayBeDoctest: boolean;
}

/** In the suite and the suites in it: as many as a runner can have counted, so attempts that failed count as well. */
export interface Present {
  tests: number;
  failures: number;
}

export const announcedBy = (attributes: XmlAttributes, framework: string | null): Announced => {
  const stated = [attributes.skipped, attributes.disabled, attributes.ignored].filter((text) => text !== undefined);
  const skipped = stated.reduce((sum, text) => sum + countOf(text), 0);
  return {
    skipped: stated.length === 0 ? null : skipped,
    tests: Math.max(0, countOf(attributes.tests) - skipped),
    failures: countOf(attributes.failures) + countOf(attributes.errors),
    // Catch2 writes no host.
    areAssertions: attributes.hostname === 'tbd' || framework === 'pytest',
    mayBeDoctest: attributes.time === undefined && attributes.disabled === undefined,
  };
};

/** With what a test says about its runner. */
export const withTest = (announced: Announced, test: XmlAttributes): Announced =>
  announced.mayBeDoctest && test.status === 'run' ? { ...announced, areAssertions: true } : announced;

/** The counts of a suite for the suite around it: tests that it announced are not missed there once more. */
export const countedAround = ({ tests, failures, areAssertions }: Announced, present: Present): Present => ({
  // Some runners count a suite within a suite as one test.
  tests: Math.max(1, present.tests, areAssertions ? 0 : tests),
  failures: Math.max(present.failures, failures),
});

/** A sentence about failures that are missing. */
export const missingFailuresOf = (suite: string, announced: Announced, present: Present): string | undefined =>
  announced.failures > present.failures
    ? `The suite ${suite} counts ${counted(announced.failures, 'failure')}, but ${present.failures === 0 ? 'no test in it failed' : `has only ${present.failures}`}.`
    : undefined;

interface MissingTests {
  sentence: string;
  tests: number;
  /** Whether skipped tests of which the suite says nothing may be those. */
  mayBeSkipped: boolean;
}

/** The tests that a suite announced and does not have. */
export const missingTestsOf = (suite: string, announced: Announced, present: Present): MissingTests | undefined =>
  !announced.areAssertions && announced.tests > present.tests
    ? {
        sentence: `The suite ${suite} announces ${counted(announced.tests, 'test')}, but has only ${present.tests}: the others may not have run.`,
        tests: announced.tests - present.tests,
        mayBeSkipped: announced.skipped === null,
      }
    : undefined;

/** Whether the tests that suites miss, without a word about skipped ones, are those that the root counts as skipped. */
export const areSkipped = (root: Announced, missing: number, writtenAsSkipped: number): boolean =>
  missing <= (root.skipped ?? 0) - writtenAsSkipped;

const countOf = (text: string | undefined): number => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : 0);
