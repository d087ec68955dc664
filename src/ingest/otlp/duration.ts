/** How long a test took, corrected where a client is known to be wrong. */
import { compareByNumbers } from '../../versions.ts';
import type { Attributes } from './attributes.ts';
import type { Span, SpanGroup } from './span.ts';

interface WrongDurations {
  scope: string;
  /** The last version that is known to be wrong. */
  versionMax: string;
  factor: number;
}

/**
 * `mergify ci junit-process` multiplies the seconds of a report by 10e9 instead of 1e9: a test of 2.5 s becomes a span
 * of 25 s that ends at the time of the upload. Recorded from 2026.10.3, the last release under an open-source licence,
 * whose scope says 0.0.0. Versions that are not known to be wrong are trusted. Releases before June 2026 were Python
 * programs that built their spans by hand and name no scope (recorded from 2025.10.17.1).
 */
const WRONG_DURATIONS: WrongDurations = { scope: 'mergify-cli', versionMax: '2026.10.3', factor: 10 };

const NANOSECONDS_PER_SECOND = 1e9;

/** Seconds, never negative. */
export function durationSecondsOf(span: Span, scope: SpanGroup['scope'], attributes: Attributes): number {
  const ns = span.endNs - span.startNs;
  if (ns <= 0n || span.startNs === 0n) return 0;
  const isTooLong = isWrongVersion(scope) || isWithoutScope(scope, attributes);
  return Number(ns) / NANOSECONDS_PER_SECOND / (isTooLong ? WRONG_DURATIONS.factor : 1);
}

function isWrongVersion(scope: SpanGroup['scope']): boolean {
  if (scope?.name !== WRONG_DURATIONS.scope) return false;
  return compareByNumbers(scope.version, WRONG_DURATIONS.versionMax) <= 0;
}

/**
 * Every span made by a tracer of the Python SDK has a scope with a name, and only Mergify's clients have the attribute.
 */
const isWithoutScope = (scope: SpanGroup['scope'], attributes: Attributes): boolean =>
  !scope?.name && attributes.text('telemetry.sdk.language') === 'python' && attributes.has('test.run.id');
