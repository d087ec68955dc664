/** Errors of a test run: those that say nothing but that a test failed, and those that say more. */

/** The failed results of a report, to recognise errors that only repeat them. */
export interface FailedResults {
  /** Names as the adapter shows them, and with their classes. */
  names: ReadonlySet<string>;
  classes: ReadonlySet<string>;
}

/** `[xUnit.net 00:00:00.41]     Shop.CartTests.Pays [FAIL]`; without the brackets of xUnit, another adapter's. */
const FAILED_TEST = /^(?:\[xUnit\.net [\d:.]+\])?\s*(\S.*\S|\S)\s+\[FAIL\]$/;
/** xUnit adds message and stack trace to a failed test, further in. */
const DETAIL = /^\[xUnit\.net [\d:.]+\] {6,}/;
/** By the adapter of NUnit. All tests of the fixture fail, then. */
const FAILED_SETUP = /^(?:OneTimeSetUp|SetUp|Set up) failed for (?:test )?fixture (.+)$/i;
/** By Microsoft.Testing.Platform: 2 is that of a failed test. */
const FAILED_EXIT = /^Exit code indicates failure: '?2'?\b/;
/** Longer lines say more than a name. */
const LINE_LENGTH_MAX = 20_000;

/** Whether every line says what the failed results say, too. */
export function saysOnlyThatTestsFailed(text: string, failed: FailedResults): boolean {
  let isAfterTest = false;
  for (const line of text.split('\n')) {
    const trimmed = line.trim();
    if (trimmed === '') continue;
    if (trimmed.length > LINE_LENGTH_MAX) return false;
    const name = FAILED_TEST.exec(trimmed)?.[1];
    if (name !== undefined && failed.names.has(name)) isAfterTest = true;
    else if (FAILED_EXIT.test(trimmed) && failed.names.size > 0) isAfterTest = false;
    else if (failed.classes.has(FAILED_SETUP.exec(trimmed)?.[1]?.trim() ?? '')) isAfterTest = true;
    else if (!(isAfterTest && isDetail(line))) return false;
  }
  return true;
}

const isDetail = (line: string): boolean => DETAIL.test(line) || /^\s{2,}\S/.test(line);
