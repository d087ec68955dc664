/** Runners that write a report for each attempt: which of them decides. */

/** `…/test_attempts/attempt_1.xml` of Bazel, whose last attempt is in `…/test.xml`. */
const BAZEL_ATTEMPT = /^(.*\/)?test_attempts\/attempt_\d+\.xml$/;

/** The report of the last attempt of the tests whose report has this path; null for a report that decides itself. */
export function decisiveReportOf(path: string): string | null {
  const attempt = BAZEL_ATTEMPT.exec(path);
  return attempt && `${attempt[1] ?? ''}test.xml`;
}
