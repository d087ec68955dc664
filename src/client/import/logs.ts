/**
 * Results in the log of a CI job that left no report: lines of `go test -v`, of pytest and of jest that name a test and say how it
 * ended. A log says less than a report: no stack, and of some tools only what failed. Pure.
 */
import type { WrittenTest } from './written-report.ts';

/** The status is one of three words. */
export type LoggedTest = WrittenTest & { status: 'passed' | 'failed' | 'skipped' };

/** Time stamps of the provider, and colours. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one
const NOISE = /^\uFEFF?\d{4}-\d\d-\d\dT[\d:.]+Z |\u001b\[[\d;]*[A-Za-z]/g;

interface Rule {
  pattern: RegExp;
  read(groups: readonly string[]): LoggedTest | undefined;
}

const GO_WORDS: Readonly<Record<string, LoggedTest['status']>> = { PASS: 'passed', FAIL: 'failed', SKIP: 'skipped' };
const PYTEST_WORDS: Readonly<Record<string, LoggedTest['status']>> = {
  PASSED: 'passed',
  XFAIL: 'skipped',
  SKIPPED: 'skipped',
  XPASS: 'passed',
  FAILED: 'failed',
  ERROR: 'failed',
};
const JEST_WORDS: Readonly<Record<string, LoggedTest['status']>> = {
  '✓': 'passed',
  '√': 'passed',
  '✕': 'failed',
  '×': 'failed',
  '○': 'skipped',
};

const test = (name: string, status: LoggedTest['status'] | undefined, more: Partial<LoggedTest> = {}) =>
  status && { name, status, duration: 0, ...more };

const RULES: readonly Rule[] = [
  {
    pattern: /^\s*--- (PASS|FAIL|SKIP): (\S+) \((\d+(?:\.\d+)?)s\)$/,
    read: ([word = '', name = '', seconds = '0']) =>
      test(name, GO_WORDS[word], { duration: Math.round(Number(seconds) * 1_000) }),
  },
  {
    pattern: /^(?:\[gw\d+\] \[ *\d+%\] (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) )(\S+\.py)::(.+?)\s*$/,
    read: ([word = '', file = '', name = '']) => test(pytestName(file, name), PYTEST_WORDS[word], { filePath: file }),
  },
  {
    pattern: /^(\S+\.py)::(.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)(?: \(.*\))?\s*(?:\[ *\d+%\])?$/,
    read: ([file = '', name = '', word = '']) => test(pytestName(file, name), PYTEST_WORDS[word], { filePath: file }),
  },
  {
    pattern: /^(FAILED|ERROR) (\S+\.py)::(\S+(?:\[.*?\])?)(?: - (.*))?$/,
    read: ([word = '', file = '', name = '', message]) =>
      test(pytestName(file, name), PYTEST_WORDS[word], { filePath: file, ...(message && { message }) }),
  },
];

/** As pytest's own JUnit reports name it. */
const pytestName = (file: string, name: string): string =>
  [file.replace(/\.py$/, '').replaceAll('/', '.'), ...name.split('::')].join('.');

/** The tests that a log names; of one that it names twice, a failure counts more, with its message. */
export function testsInLog(log: string): LoggedTest[] {
  const found = new Map<string, LoggedTest>();
  const jest = new JestLines();
  for (const raw of log.split('\n')) {
    const line = raw.replace(/\r$/, '').replace(NOISE, '');
    const one = read(line) ?? jest.read(line);
    if (one) add(found, one);
  }
  return [...found.values()];
}

function read(line: string): LoggedTest | undefined {
  for (const rule of RULES) {
    const [matched, ...groups] = rule.pattern.exec(line) ?? [];
    if (matched !== undefined) return rule.read(groups);
  }
  return undefined;
}

function add(found: Map<string, LoggedTest>, one: LoggedTest): void {
  const known = found.get(one.name);
  if (!known || (one.status === 'failed' && (known.status !== 'failed' || !known.message))) found.set(one.name, one);
}

/** With `--verbose`, jest prints a file, then its tests below the names of their groups. */
class JestLines {
  #file: string | undefined;
  #groups: { indent: number; name: string }[] = [];

  read(line: string): LoggedTest | undefined {
    const [, file] = /^(?:PASS|FAIL)\s+(\S+\.(?:[cm]?[jt]sx?))/.exec(line) ?? [];
    if (file !== undefined) {
      this.#file = file;
      this.#groups = [];
      return undefined;
    }
    if (this.#file === undefined) return undefined;
    const [, space = '', word = '', name = '', ms = '0'] = /^( +)([✓√✕×○]) (.+?)(?: \((\d+) ms\))?$/.exec(line) ?? [];
    const indent = space.length;
    if (indent > 0) {
      this.#groups = this.#groups.filter((group) => group.indent < indent);
      const full = [...this.#groups.map((group) => group.name), name].join(' ');
      return test(full, JEST_WORDS[word], { duration: Number(ms), filePath: this.#file });
    }
    this.#group(line);
    return undefined;
  }

  #group(line: string): void {
    const [, space = '', name = ''] = /^( {2,12})(\S.*)$/.exec(line) ?? [];
    if (space === '') {
      if (line.trim() !== '') this.#file = undefined;
      return;
    }
    this.#groups = [...this.#groups.filter(({ indent }) => indent < space.length), { indent: space.length, name }];
  }
}
