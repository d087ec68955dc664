/** A test point: `not ok 2 - sums the total # TODO later`. */
import { TOO_LONG_NAME } from '../report.ts';
import { parseSeconds } from '../time.ts';

export interface Point {
  isOk: boolean;
  description: string;
  directive: 'skip' | 'todo' | null;
  durationSeconds: number;
  /** node-tap may write the subtests after the point, in braces. */
  opensBraces: boolean;
}

const POINT = /^(not )?ok(?: +\d{1,9})?(?: |$)/;
const DASH = /^\s*-(?: |$)/;
const DIRECTIVE = /# *(skip|todo|time=)/iy;

/** A longer one is refused for its name. */
const LENGTH_MAX = 2 * TOO_LONG_NAME;

/** Null for any other line. */
export function pointOf(whole: string): Point | null {
  const found = POINT.exec(whole);
  if (!found) return null;
  const line = whole.slice(0, LENGTH_MAX);
  const opensBraces = line.endsWith(' {');
  const rest = line.slice(found[0].length, opensBraces ? -2 : undefined).replace(DASH, '');
  const point: Point = {
    isOk: found[1] === undefined,
    description: '',
    directive: null,
    durationSeconds: 0,
    opensBraces,
  };
  let end = rest.length;
  // A mark within a description is escaped, or no blank stands before it.
  for (let at = rest.indexOf('#'); at >= 0; at = rest.indexOf('#', at + 1)) {
    if (at > 0 && rest[at - 1] !== ' ') continue;
    DIRECTIVE.lastIndex = at;
    const word = DIRECTIVE.exec(rest)?.[1]?.toLowerCase();
    if (word === undefined) continue;
    end = Math.min(end, at);
    if (word === 'time=') point.durationSeconds = parseSeconds(rest.slice(DIRECTIVE.lastIndex).split(' ', 1)[0]);
    else point.directive ??= word === 'skip' ? 'skip' : 'todo';
  }
  point.description = unescaped(rest.slice(0, end).trim());
  return point;
}

export const unescaped = (text: string): string => text.replace(/\\([#\\])/g, '$1');
