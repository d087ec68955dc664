/** The quarantines of the board in groups: those that could be released first, then by owner or by end. */
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';

export type Quarantine = QuarantineListAnswer['quarantined_tests'][number];
export type Grouping = 'owner' | 'end';

export interface QuarantineGroup {
  title: string;
  /** The oldest first. */
  quarantines: Quarantine[];
}

const DAY_MS = 86_400_000;
const ENDS: readonly (readonly [days: number, title: string])[] = [
  [1, 'Ends within a day'],
  [7, 'Ends within 7 days'],
  [30, 'Ends within 30 days'],
  [Number.POSITIVE_INFINITY, 'Ends later'],
];
const NO_END = 'Has no end';
const NO_OWNER = 'Has no owner';

function endOf({ expires_at: end }: Quarantine, now: number): string {
  if (end === null) return NO_END;
  const days = (Date.parse(end) - now) / DAY_MS;
  return ENDS.find(([within]) => days <= within)?.[1] ?? NO_END;
}

export function groupsOf(
  quarantines: readonly Quarantine[],
  by: Grouping | undefined,
  now = Date.now(),
): QuarantineGroup[] {
  const ordered = [...quarantines].sort((a, b) => a.created_at.localeCompare(b.created_at));
  const titleOf = (one: Quarantine): string => {
    if (by === 'owner') return one.owner ?? NO_OWNER;
    return by === 'end' ? endOf(one, now) : 'Not recovered';
  };
  const rest = Map.groupBy(
    ordered.filter(({ is_recovered: is }) => !is),
    titleOf,
  );
  const titles = by === 'end' ? [...ENDS.map(([, title]) => title), NO_END] : [...rest.keys()].sort(namesFirst);
  return [
    { title: 'Recovered: they could be released', quarantines: ordered.filter(({ is_recovered: is }) => is) },
    ...titles.map((title) => ({ title, quarantines: rest.get(title) ?? [] })),
  ].filter((group) => group.quarantines.length > 0);
}

const namesFirst = (a: string, b: string): number =>
  Number(a === NO_OWNER) - Number(b === NO_OWNER) || a.localeCompare(b);
