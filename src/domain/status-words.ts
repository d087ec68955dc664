/** The words for how a test ended, of every runner and format: `timed out`, `TimedOut` and `timed_out` are one. */
import type { Status } from './status.ts';

const WORDS: Readonly<Record<Status, string>> = {
  passed:
    'pass passed passing success successful succeeded ok green run ran completed complete executed done finished expected warning passedwithwarnings passedbutrunaborted fixed flaky',
  failed:
    'fail failed failing failure unsuccessful error errored broken crash crashed timeout timedout abort aborted cancelled canceled interrupted disconnected killed terminated panic panicked fatal unexpected ko notok regression regressed xpassed unstable',
  skipped:
    'skip skipped ignore ignored disabled suppressed pending todo inconclusive blocked untested undefined unexecuted notrun notexecuted notrunnable notstarted notapplicable na inprogress wip explicit filtered deselected excluded xfail xfailed',
};

const STATUSES: ReadonlyMap<string, Status> = new Map(
  (Object.entries(WORDS) as [Status, string][]).flatMap(([status, words]) =>
    words.split(' ').map((word) => [word, status] as const),
  ),
);

/** No word is longer. */
const LENGTH_MAX = 40;

/** Undefined for a word that is not known. `Failed:Error`, as NUnit has it, is failed. */
export function statusOfWord(text: string): Status | undefined {
  if (text.length > LENGTH_MAX) return undefined;
  const [word = ''] = text.toLowerCase().split(':', 1);
  return STATUSES.get(word.replace(/[^a-z]/g, ''));
}
