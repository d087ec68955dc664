/**
 * How the lines of a runner's listing name what executions know: a test by its name, a class by what stands before the
 * test's own name, and a file by its path. Pure.
 */

export const SPLIT_BY = ['file', 'class', 'test'] as const;
export type SplitBy = (typeof SPLIT_BY)[number];

/** The names that a report may give to the test or class of a line, likeliest first. */
export function reportedNames(line: string): string[] {
  return [...new Set([pytestName(line), playwrightName(line), line])].filter((name) => name !== undefined);
}

/** `test_cart.py::TestCart::test_rows[a::b]` → `test_cart.TestCart.test_rows[a::b]`, as in its JUnit report. */
function pytestName(line: string): string | undefined {
  const [, file, rest = ''] = /^([^[]*?)\.py::(.+)$/s.exec(line) ?? [];
  if (file === undefined) return undefined;
  const row = rest.indexOf('[');
  const names = row < 0 ? rest : rest.slice(0, row);
  return `${moduleOf(file)}.${names.replaceAll('::', '.')}${row < 0 ? '' : rest.slice(row)}`;
}

/** `  [chromium] › cart.spec.ts:3:5 › Cart › adds` → without line and column. */
function playwrightName(line: string): string | undefined {
  const [, project = '', file, titles] = /^\s*(\[[^\]]*\] › )?(\S.*?):\d+:\d+ › (.+)$/s.exec(line) ?? [];
  return file === undefined ? undefined : `${project}${file} › ${titles}`;
}

const moduleOf = (path: string): string => path.replaceAll('/', '.');

/** With `/` between folders, without `./` at the beginning. */
export const plainPath = (path: string): string => path.replaceAll('\\', '/').replace(/^(?:\.\/)+/, '');

/** `shop/cart.py` → `shop`, `cart`: the parts of a class that stands for a file. */
export const partsOfFile = (path: string): string[] =>
  path
    .replace(/\.[^./]+$/, '')
    .split('/')
    .filter((part) => part !== '');

export const partsOfClass = (className: string): string[] => className.split(/[.$:]+/).filter((part) => part !== '');

/** Formats part the name of a test from its class with one of these. */
const SEPARATOR = / › | > | - |::|[./#]/g;
const AROUND_MAX = 16;

/** The classes, suites and folders around a test or class, innermost first. A row of data (`[a.b]`, `(1.5)`) is part of the test. */
export function namesAround(name: string): string[] {
  const row = name.search(/(?<=[\w\]])[[({]/);
  const whole = row < 0 ? name : name.slice(0, row);
  return [...whole.matchAll(SEPARATOR)]
    .slice(-AROUND_MAX)
    .map(({ index }) => whole.slice(0, index))
    .filter((around) => around !== '')
    .reverse();
}
