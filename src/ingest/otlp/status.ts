/**
 * Whether a test passed. A quarantine hides failures from CI, each client in its own way, but insights must see them:
 * how often a quarantined test still fails shows whether it has recovered.
 *
 * | reported, when quarantined | pytest                   | vitest                  | others  |
 * |----------------------------|--------------------------|-------------------------|---------|
 * | `passed`                   | passed (it did)          | failed (caught)         | passed  |
 * | `skipped`                  | failed (xfail)           | failed                  | failed  |
 * | `failed`                   | failed                   | failed                  | failed  |
 * | no status, no error        | failed (xfail in setup)  | failed                  | failed  |
 *
 * pytest-mergify marks every test on the quarantine list and xfails it: a failure in setup then has neither a status
 * attribute nor an error (recorded from 2026.9.24.1). Tests with a skip marker say `quarantined=false`. vitest marks
 * only tests whose failure it caught, and reports them as passed.
 *
 * pytest-mergify reports the first attempt of a test that it runs again, and sets `cicd.test.flaky` if one attempt passed
 * and one failed (recorded from 2026.9.24.1). Such a test counts as passed and flaky, as with every other producer.
 */
import type { Status } from '../../domain/status.ts';
import { statusOfWord } from '../../domain/status-words.ts';
import type { Attributes } from './attributes.ts';
import type { Span } from './span.ts';

/** Frameworks whose client reports a caught failure as passed. */
const CAUGHT_AS_PASSED: ReadonlySet<string> = new Set(['vitest']);

/** Whether the status is a word that says nothing to us. */
export function hasUnknownStatus(attributes: Attributes): boolean {
  const given = attributes.text(STATUS);
  return given !== null && statusOfWord(given) === undefined;
}

const STATUS = 'test.case.result.status';

export function statusOf(span: Span, attributes: Attributes, framework: string | null): Status {
  const reported = reportedStatus(span, attributes);
  if (!attributes.isTrue('cicd.test.quarantined')) return reported;
  if (reported === 'skipped') return 'failed';
  if (reported === 'passed' && CAUGHT_AS_PASSED.has(framework?.toLowerCase() ?? '')) return 'failed';
  return reported;
}

function reportedStatus(span: Span, attributes: Attributes): Status {
  const status = statusOfWord(attributes.text(STATUS) ?? '') ?? statusOfSpan(span, attributes);
  return status === 'failed' && hasPassedAgain(attributes) ? 'passed' : status;
}

/** Without the attribute. A span that says nothing at all is a skip: pytest-mergify reports them so. */
function statusOfSpan(span: Span, attributes: Attributes): Status {
  if (span.status === 'error' || hasException(span, attributes)) return 'failed';
  return span.status === 'ok' ? 'passed' : 'skipped';
}

const hasPassedAgain = (attributes: Attributes): boolean =>
  attributes.isTrue('cicd.test.flaky') && isRetried(attributes);

/** Whether the test ran more than once, because it failed (a retry) or to see whether it is flaky (a rerun). */
export const isRetried = (attributes: Attributes): boolean =>
  (attributes.count('cicd.test.retry_count') ?? 0) > 0 || (attributes.count('cicd.test.rerun_count') ?? 0) > 0;

const hasException = (span: Span, attributes: Attributes): boolean =>
  attributes.has('exception.type') || attributes.has('exception.message') || span.exception !== null;
