/** Tries the rules on one world after another, beside its twins. */
import { type Trial, tryRules } from './trials.ts';

declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<Trial>) => {
  self.postMessage(tryRules(data));
};
