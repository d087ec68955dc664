/** Describes in words what a quarantine has excused so far. */
import type { QuarantineEffects } from '../../src/insights/quarantine-effects.ts';
import { formatCount, formatLocal } from './format.ts';

type Effect = QuarantineEffects['effects'][number];

export function EffectText({ effect }: { effect: Effect }) {
  const { failed_executions: failures, red_runs: runs, spared_runs: spared } = effect;
  const since = `Counted since ${formatLocal(effect.counted_since)}. A red run is spared if quarantines excuse every failure in it.`;
  if (failures === 0) return <span title={since}>excused nothing yet</span>;
  return (
    <span title={since}>
      excused {formatCount(failures)} {failures === 1 ? 'failure' : 'failures'}, spared {formatCount(spared)} of{' '}
      {formatCount(runs)} red {runs === 1 ? 'run' : 'runs'}
    </span>
  );
}
