/** Which quarantines the board shows. */
import type { Quarantine } from '../api/queries.ts';

const DAY_MS = 86_400_000;
const ENDS_SOON_DAYS = 7;

export const SHOWN = ['recovered', 'ending', 'endless', 'unowned'] as const;
type Shown = (typeof SHOWN)[number];

const TESTS: Record<Shown, (one: Quarantine, now: number) => boolean> = {
  recovered: (one) => one.is_recovered,
  ending: ({ expires_at: end }, now) => end !== null && Date.parse(end) - now <= ENDS_SOON_DAYS * DAY_MS,
  endless: ({ expires_at: end }) => end === null,
  unowned: ({ owner }) => owner === null,
};

interface Filters {
  /** A part of the test, the reason, the branch or the owner, in any case. */
  q: string;
  source: Quarantine['source'] | undefined;
  /** Undefined: all of them. */
  show: Shown | undefined;
}

/** Those that match every filter, the oldest first. */
export const shownOf = (quarantines: readonly Quarantine[], { q, source, show }: Filters, now: number): Quarantine[] =>
  quarantines
    .filter((one) => source === undefined || one.source === source)
    .filter((one) => show === undefined || TESTS[show](one, now))
    .filter((one) =>
      [one.test_name, one.reason, one.branch, one.owner].join('\n').toLowerCase().includes(q.toLowerCase()),
    )
    .sort((a, b) => a.created_at.localeCompare(b.created_at));
