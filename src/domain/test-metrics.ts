/**
 * Figures about one identity, for lists of tests: how sure its health is, and how much its failures cost. They cover the
 * days of its summary: the 30 days up to its newest execution.
 */
import type { Health } from './status.ts';
import type { IdentitySummary } from './test-state.ts';

/** From least to most. */
export const LEVELS = ['low', 'medium', 'high'] as const;
export type Level = (typeof LEVELS)[number];

/** Passed and failed executions in 30 days from which on the confidence is medium, and high. */
const CONFIDENCE_EXECUTIONS = [20, 100] as const;
/** Failed executions in 30 days from which on the impact is medium, and high. */
const IMPACT_FAILURES = [5, 20] as const;

export interface TestMetrics {
  health: Health;
  confidence: Level;
  /** Null for a healthy test. */
  impact: Level | null;
  /** In 30 days, without skipped ones. */
  executions: number;
  failures: number;
  /** Milliseconds since the epoch; null if no retained execution failed. */
  lastFailureAt: number | null;
}

export function metricsOf(summary: Pick<IdentitySummary, 'days' | 'lastFailureAt'>, health: Health): TestMetrics {
  let passed = 0;
  let failures = 0;
  for (const [, passes, failed] of summary.days) {
    passed += passes;
    failures += failed;
  }
  return {
    health,
    confidence: healthConfidence(passed + failures),
    impact: health === 'healthy' ? null : levelOf(failures, IMPACT_FAILURES),
    executions: passed + failures,
    failures,
    lastFailureAt: summary.lastFailureAt,
  };
}

/** How sure a health is that follows from this many passed and failed executions in 30 days. */
const healthConfidence = (executions: number): Level => levelOf(executions, CONFIDENCE_EXECUTIONS);

const levelOf = (count: number, [medium, high]: readonly [number, number]): Level =>
  count >= high ? 'high' : count >= medium ? 'medium' : 'low';

/** 0 without a level, then from 1. */
export const levelRank = (level: Level | null): number => (level === null ? 0 : LEVELS.indexOf(level) + 1);

/** The share of failures, in millionths: whole numbers are ordered alike everywhere. */
export const failedPpm = ({ executions, failures }: Pick<TestMetrics, 'executions' | 'failures'>): number =>
  executions === 0 ? 0 : Math.round((1_000_000 * failures) / executions);
