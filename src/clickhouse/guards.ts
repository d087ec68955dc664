/**
 * Conditions that a request does not ask for. A statement writes each as `AND (<guard> OR …)`, so that its file can be read and
 * pasted as a whole. Planning one costs as much processor time whether its guard is true or not: a page of the log took
 * 45 ms with all of its filters, and 33 ms with those that were given. So those whose guard is true are left out.
 */
import type { Parameters } from './parameters.ts';

/** A list that is empty, or a flag. */
const GUARDED = /(?<!\s)\s+AND \((?:empty\(\{(?<list>\w+)\s*:[^}]+\}\)|\{(?<flag>\w+)\s*:\s*Bool\})\s+OR\s/g;

/** The statement without the conditions whose guard is true by these values. */
export function withoutTrueGuards(sql: string, values: Parameters): string {
  let kept = '';
  let from = 0;
  for (const match of sql.matchAll(GUARDED)) {
    // Within one that is left out.
    if (match.index < from || !isTrue(match.groups, values)) continue;
    kept += sql.slice(from, match.index);
    from = endOfClause(sql, sql.indexOf('(', match.index));
  }
  return kept + sql.slice(from);
}

function isTrue({ list, flag }: Partial<Record<'list' | 'flag', string>> = {}, values: Parameters): boolean {
  if (flag !== undefined) return values[flag] === true;
  const value = list === undefined ? undefined : values[list];
  return Array.isArray(value) && value.length === 0;
}

/** After the bracket that closes the one at `open`. No condition has a bracket in a text. */
function endOfClause(sql: string, open: number): number {
  let depth = 0;
  for (let i = open; i < sql.length; i++) {
    if (sql[i] === '(') depth++;
    if (sql[i] === ')') depth--;
    if (depth === 0) return i + 1;
  }
  throw new RangeError(`a bracket is not closed: ${sql.slice(open, open + 80)}`);
}
