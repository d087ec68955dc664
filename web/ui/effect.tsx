/** Describes in words what a quarantine has excused so far. */
import { type Effect, effectInWords } from './effect-words.ts';
import { formatLocal } from './format.ts';
import { Hint } from './hint.tsx';

export function EffectText({ effect }: { effect: Effect }) {
  const since = `Counted since ${formatLocal(effect.counted_since)}. A red run is spared if quarantines excuse every failure in it.`;
  return <Hint text={since}>{effectInWords(effect)}</Hint>;
}
