/** Which test runner wrote a report, where the report itself says so; never a guess from file names or test names. */
import type { Runner } from '../report.ts';

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
