/** How far an import is that the page started, and how long it will take. */
import { z } from 'zod';

/** A line that the importing command prints about its progress. */
export const importLineSchema = z.object({
  /** Sent or left out. */
  reports: z.int(),
  executions: z.int(),
  /** When the newest result arrived that was sent: they come oldest first. Milliseconds since the epoch. */
  at: z.number().nullable(),
  /** Why nothing continues. */
  waiting: z.string().nullable(),
});
export type ImportLine = z.infer<typeof importLineSchema>;

export const importProgressSchema = z.object({
  reports: z.int().meta({ description: 'Reports that were sent or left out', example: 240 }),
  executions: z.int().meta({ description: 'Executions that are stored', example: 5_760 }),
  share: z.number().meta({ description: 'How much of the time to import is behind it, from 0 to 1', example: 0.8 }),
  seconds_left: z.int().nullable().meta({ description: 'Null: not known yet', example: 15 }),
  waiting_for: z.string().nullable().meta({ description: 'Why nothing continues; null: it does', example: null }),
});
export type ImportProgressSoFar = z.infer<typeof importProgressSchema>;

export const NO_PROGRESS: ImportProgressSoFar = {
  reports: 0,
  executions: 0,
  share: 0,
  seconds_left: null,
  waiting_for: null,
};

/** Before, the estimate says little. */
const MEASURED_SHARE_MIN = 0.02;

interface Span {
  /** Results from when on, and when the import began. Milliseconds since the epoch. */
  since: number;
  begunAt: number;
  now: number;
  /** How far it was when the first report was sent, from which on its pace is known: the history may begin late. */
  first: { share: number; at: number } | undefined;
  /** It never shows less than before. */
  shareBefore: number;
}

/** Which share of the time to import lies before a moment. */
export const shareOf = (at: number, { since, begunAt }: Pick<Span, 'since' | 'begunAt'>): number =>
  Math.min(1, Math.max(0, (at - since) / Math.max(1, begunAt - since)));

/**
 * The host lists runs by day and says no number of them, so the share is that of time, and what is left takes as long for
 * each day as what is done.
 */
export function progressOf(line: ImportLine, span: Span): ImportProgressSoFar {
  const { reports, executions, at, waiting } = line;
  const { now, first, shareBefore } = span;
  const share = Math.max(shareBefore, at === null ? 0 : shareOf(at, span));
  const done = first ? share - first.share : 0;
  const secondsLeft =
    !first || done < MEASURED_SHARE_MIN ? null : Math.ceil(((1 - share) * (now - first.at)) / done / 1_000);
  return { reports, executions, share, seconds_left: secondsLeft, waiting_for: waiting };
}
