/** Which test runner wrote a report, where the report itself says so; never a guess from file names or test names. */

export interface Framework {
  framework: string;
  /** Null where the runner serves several languages. */
  language: string | null;
}

interface Known extends Framework {
  element: 'testsuites' | 'testsuite';
  name: string;
}

/** Names that a runner's own reporter gives to its root or to each suite unless told otherwise. */
const KNOWN: readonly Known[] = [
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

export function frameworkOf(element: string, name: string | undefined): Framework | null {
  const known = KNOWN.find((one) => one.element === element && one.name === name);
  return known ? { framework: known.framework, language: known.language } : null;
}
