/**
 * Tests of Go in JUnit XML. A test that panics or exits ends the process of its package, and the tests after it never ran.
 * gotestsum and go-junit-report say so in the text of its failure only.
 */
import { STACKTRACE_BYTES_MAX } from '../../domain/limits.ts';

/** The name under which Go's tools list a package that was not built, or failed outside of its tests. */
export const PACKAGE_TEST = 'TestMain';

/** Go's runtime prints why, and then what runs. */
const CRASH = /^(?:panic|fatal error): /m;
const GOROUTINE = /^goroutine \d+ /m;
const BEGINNING = '=== RUN   ';
const END = '--- FAIL: ';

/** Whether the test ended its process, by the text of its failure. */
export function hasEndedProcess(text: string): boolean {
  const crashAt = CRASH.exec(text)?.index;
  if (crashAt !== undefined && GOROUTINE.test(text.slice(crashAt))) return true;
  // A test that ends says how, unless the text has been cut.
  return text.startsWith(BEGINNING) && text.length < STACKTRACE_BYTES_MAX / 4 && !text.includes(END);
}
