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
 */
import { STATUSES, type Status } from '../../domain/status.ts';
import type { Attributes } from './attributes.ts';
import { type Span, Status_StatusCode } from './gen/opentelemetry/proto/trace/v1/trace_pb.ts';

/** Frameworks whose client reports a caught failure as passed. */
const CAUGHT_AS_PASSED: ReadonlySet<string> = new Set(['vitest']);

export function statusOf(span: Span, attributes: Attributes, framework: string | null): Status {
  const reported = reportedStatus(span, attributes);
  if (!attributes.isTrue('cicd.test.quarantined')) return reported;
  if (reported === 'skipped') return 'failed';
  if (reported === 'passed' && CAUGHT_AS_PASSED.has(framework?.toLowerCase() ?? '')) return 'failed';
  return reported;
}

function reportedStatus(span: Span, attributes: Attributes): Status {
  const given = attributes.text('test.case.result.status')?.toLowerCase();
  const status = STATUSES.find((one) => one === given);
  if (status) return status;
  return span.status?.code === Status_StatusCode.ERROR || hasException(span, attributes) ? 'failed' : 'skipped';
}

const hasException = (span: Span, attributes: Attributes): boolean =>
  attributes.has('exception.type') ||
  attributes.has('exception.message') ||
  span.events.some((event) => event.name === 'exception');
