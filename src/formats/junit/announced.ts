/**
 * The counts that a suite announces, beside those of its tests. A runner that stops early, or whose process dies, may have announced more
 * tests or failures than it wrote down; then it is unknown what the others would have shown.
 */
import { counted } from '../report.ts';
import type { XmlAttributes } from '../xml.ts';

export interface Announced {
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
  const skipped = countOf(attributes.skipped) + countOf(attributes.disabled) + countOf(attributes.ignored);
  return {
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

/** Sentences about what is missing; none if everything is there. */
export function missingOf(suite: string, announced: Announced, present: Present): string[] {
  const sentences: string[] = [];
  if (announced.failures > present.failures)
    sentences.push(
      `The suite ${suite} counts ${counted(announced.failures, 'failure')}, but ${present.failures === 0 ? 'no test in it failed' : `has only ${present.failures}`}.`,
    );
  if (!announced.areAssertions && announced.tests > present.tests)
    sentences.push(
      `The suite ${suite} announces ${counted(announced.tests, 'test')}, but has only ${present.tests}: the others may not have run.`,
    );
  return sentences;
}

const countOf = (text: string | undefined): number => (/^\d{1,9}$/.test(text ?? '') ? Number(text) : 0);
