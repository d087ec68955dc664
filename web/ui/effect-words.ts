/** The effect of a quarantine in words. */
import type { QuarantineEffects } from '../../src/insights/quarantine-effects.ts';
import { formatCount, formatCounted } from './format.ts';

export type Effect = QuarantineEffects['effects'][number];

export function effectInWords({
  failed_executions: failures,
  red_runs: runs,
  spared_runs: spared,
}: Pick<Effect, 'failed_executions' | 'red_runs' | 'spared_runs'>): string {
  if (failures === 0) return 'excused nothing yet';
  return `excused ${formatCounted(failures, 'failure')}, spared ${formatCount(spared)} of ${formatCounted(runs, 'red run')}`;
}
