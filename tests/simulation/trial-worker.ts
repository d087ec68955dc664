/** Tries the rules on one world after another, beside its twins. */
import { tryRules } from './trials.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<{ world: string; seed: number }>) => {
  self.postMessage(tryRules(data.world, data.seed));
};
