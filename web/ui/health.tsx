/** The health of a test: a word, a colour and a shape, so that no one of them is needed. */
import type { ACTIVE_DAYS } from '../../src/domain/activity.ts';
import type { TestDetails } from '../../src/insights/details.ts';
import { Hint } from './hint.tsx';

export type Health = TestDetails['health_status'];

/** A flaky test that has not failed on its own for weeks. */
const CALM = { shape: 'M2 8h12', colour: 'bg-raised text-soft', days: 28 satisfies typeof ACTIVE_DAYS };

const SHAPES: Record<Health, string> = {
  healthy: 'M3 8.5l3.2 3L13 4.5',
  flaky: 'M2 8q2.5-6 6 0t6 0',
  broken: 'M4 4l8 8M12 4l-8 8',
};
const COLOURS: Record<Health, string> = {
  healthy: 'bg-healthy-soft text-healthy',
  flaky: 'bg-flaky-soft text-flaky',
  broken: 'bg-broken-soft text-broken',
};

/** @param isActive false for a calm flaky test */
export function HealthBadge({ health, isActive = true }: { health: Health; isActive?: boolean }) {
  const isCalm = health === 'flaky' && !isActive;
  const badge = (
    <span
      className={`inline-flex shrink-0 items-center gap-1 rounded-full px-2 py-0.5 text-xs font-medium ${isCalm ? CALM.colour : COLOURS[health]}`}
    >
      <svg
        viewBox="0 0 16 16"
        width="12"
        height="12"
        fill="none"
        stroke="currentColor"
        strokeWidth="2"
        aria-hidden="true"
      >
        <path d={isCalm ? CALM.shape : SHAPES[health]} strokeLinecap="round" strokeLinejoin="round" />
      </svg>
      {isCalm ? (
        <>
          <span className="sr-only">flaky, </span>calm
        </>
      ) : (
        health
      )}
    </span>
  );
  if (!isCalm) return badge;
  return <Hint text={`Flaky, but it has not failed on its own in the last ${CALM.days} days`}>{badge}</Hint>;
}
