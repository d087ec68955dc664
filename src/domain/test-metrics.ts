/**
 * Figures about one identity, for lists of tests: how sure its health is, and how much its failures cost. Counts cover the
 * days of every ratio (ratio-window.ts).
 */
import { isActive } from './activity.ts';
import type { Belief } from './belief.ts';
import type { Position } from './execution.ts';
import { type HealthConfidence, healthConfidence, LEVELS, type Level } from './health-confidence.ts';
import { recentCounts } from './ratio-window.ts';
import type { Health } from './status.ts';
import type { IdentitySummary } from './test-state.ts';

/** Failed executions in 30 days from which on the impact is medium, and high. */
export const IMPACT_FAILURES = [5, 20] as const;

export interface TestMetrics extends HealthConfidence {
  health: Health;
  /** Whether it is worth an alarm now. */
  isActive: boolean;
  /** Null for a healthy test. */
  impact: Level | null;
  /** In 30 days, without skipped ones. */
  executions: number;
  failures: number;
  /** Milliseconds since the epoch; null if no attempt of a retained execution failed. */
  lastFailureAt: number | null;
}

interface Judged {
  health: Health;
  /** Milliseconds since the epoch; 0 for never. */
  ownFailureAt: number;
  belief: { at: Position | null; belief: Belief };
}

export function metricsOf(
  summary: Pick<IdentitySummary, 'days' | 'lastFailureAt'>,
  { health, ownFailureAt, belief }: Judged,
  now: number,
): TestMetrics {
  const { passed, failed: failures } = recentCounts([summary], now);
  return {
    health,
    ...healthConfidence(health, belief),
    isActive: isActive({ health, ownFailureAt }, now),
    impact: health === 'healthy' ? null : levelOf(failures, IMPACT_FAILURES),
    executions: passed + failures,
    failures,
    lastFailureAt: summary.lastFailureAt,
  };
}

const levelOf = (count: number, [medium, high]: readonly [number, number]): Level =>
  count >= high ? 'high' : count >= medium ? 'medium' : 'low';

/** 0 without a level, then from 1. */
export const levelRank = (level: Level | null): number => (level === null ? 0 : LEVELS.indexOf(level) + 1);

/** The share of failures, in millionths: whole numbers are ordered alike everywhere. */
export const failedPpm = ({ executions, failures }: Pick<TestMetrics, 'executions' | 'failures'>): number =>
  executions === 0 ? 0 : Math.round((1_000_000 * failures) / executions);
