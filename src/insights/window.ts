/** The window of insights that look at a range of time. */
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
