/** The window of insights that look at a range of time. */
import { MOMENT_MIN } from '../domain/moment.ts';
import { DAY_MS } from '../domain/time.ts';
import { resolveWindow, type Window } from '../domain/window.ts';
import { momentParameter } from '../http/parameters.ts';
import { unprocessable } from '../http/problems.ts';

export const windowParameters = () => ({
  start: momentParameter({
    description: 'Start of the window, inclusive; defaults to a day before `end`.',
    example: '2026-11-20T10:00:00Z',
  }),
  end: momentParameter({
    description: 'End of the window, exclusive; defaults to a day after `start` if only that is given, else to now.',
    example: '2026-11-21T10:00:00Z',
  }),
});

/** Throws 422 for an empty window. */
export function checkedWindow(query: { start: number | undefined; end: number | undefined }, now: number): Window {
  const window = resolveWindow(query.start, query.end, now);
  if (window.start >= window.end)
    throw unprocessable([{ loc: ['query', 'start'], msg: 'must be before end', type: 'invalid_window' }]);
  return window;
}

/** The window of lists that look at many days, and its length if only one end is given. */
export const LONG_WINDOW_DAYS = 100;
export const LONG_DEFAULT_DAYS = 28;

export const longWindowParameters = () => ({
  start: momentParameter({
    description: `Start of the window, inclusive; defaults to ${LONG_DEFAULT_DAYS} days before \`end\`.`,
    example: '2026-11-01T00:00:00Z',
  }),
  end: momentParameter({
    description: 'End of the window, exclusive; defaults to now.',
    example: '2026-11-21T10:00:00Z',
  }),
});

/** Throws 422 for a window that is empty or too long. */
export function longWindow(query: { start: number | undefined; end: number | undefined }, now: number): Window {
  // What began in the millisecond of the request is part of the window.
  const end = query.end ?? now + 1;
  const window = checkedWindow(
    { start: query.start ?? Math.max(end - LONG_DEFAULT_DAYS * DAY_MS, MOMENT_MIN), end },
    now,
  );
  if (window.end - window.start > LONG_WINDOW_DAYS * DAY_MS)
    throw unprocessable([
      { loc: ['query', 'start'], msg: `must be at most ${LONG_WINDOW_DAYS} days before end`, type: 'invalid_window' },
    ]);
  return window;
}
