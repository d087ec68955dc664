/** The end of a repository, or of something in it. */
import type { RepositoryName } from './repository-path.ts';

/** Whether what a person typed names the repository that is to be deleted; compared without case, as names are. */
export const isConfirmed = ({ owner, name }: RepositoryName, typed: string): boolean =>
  typed.toLowerCase() === `${owner}/${name}`.toLowerCase();

/** Whether something was accepted before a deletion, and so belongs to what was deleted. Milliseconds since the epoch. */
export const isFromBefore = (acceptedAt: number, deletedAt: number): boolean => acceptedAt <= deletedAt;

/** Rows by table, such as `{ executions: 120000, quarantines: 3 }`; tables without any are left out. */
export type RowCounts = Readonly<Record<string, number>>;

/** Adds up counts; 0 is left out. */
export function addCounts(...all: readonly RowCounts[]): RowCounts {
  const sums = new Map<string, number>();
  for (const counts of all)
    for (const [table, rows] of Object.entries(counts)) sums.set(table, (sums.get(table) ?? 0) + rows);
  return Object.fromEntries([...sums].filter(([, rows]) => rows > 0));
}
