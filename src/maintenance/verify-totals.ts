/** Compares the totals of repositories with a count of their tests, and with when their newest execution finished. */
import { formatMoment } from '../domain/moment.ts';
import type { DayTotals } from '../domain/repository-stats.ts';
import type { StaleKind } from '../domain/stale.ts';
import { readWhole } from '../postgres/abandonable.ts';
import type { Database } from '../postgres/client.ts';
import { everyRepositoryId } from '../postgres/repositories.ts';
import { countRepository, readCounts, readDaysSince } from '../postgres/repository-totals.ts';

interface Compared {
  /** The first day that is compared; days since the epoch. */
  firstDay: number;
  /** By repository id: when the newest execution that is evaluated finished; milliseconds since the epoch. */
  newest: ReadonlyMap<string, number>;
  /** By repository id: what is stale. Totals that are stale are not compared. */
  stale: ReadonlyMap<string, ReadonlySet<StaleKind>>;
}

/** A sentence for each number that differs, of all repositories or of one. */
export async function totalsDifferences(db: Database, compared: Compared, repositoryId?: string): Promise<string[]> {
  const ids = repositoryId === undefined ? await everyRepositoryId(db) : [repositoryId];
  const differences: string[] = [];
  for (const id of ids)
    if (!compared.stale.get(id)?.has('totals')) differences.push(...(await differencesIn(db, id, compared)));
  return differences;
}

/** In one snapshot: what is stored meanwhile changes nothing. */
const differencesIn = (db: Database, id: string, { firstDay, newest }: Compared): Promise<string[]> =>
  readWhole(db, async (tx) => {
    const kept = await readCounts(tx, id);
    const keptDays = await readDaysSince(tx, id, firstDay);
    const counted = await countRepository(tx, id);
    // More may have run since the newest runs were read; and of what ran before retention, nothing is stored.
    const newestAt = Math.max(newest.get(id) ?? 0, kept.newestAt);
    return [
      ...differenceOf('tests', JSON.stringify(counted.counts), JSON.stringify(kept.tests)),
      ...differenceOfDays(new Map(counted.days.filter(([day]) => day >= firstDay)), keptDays),
      ...differenceOf('newest run', formatMoment(newestAt), formatMoment(kept.newestAt)),
    ].map((difference) => `repository ${id}: ${difference}`);
  });

type Days = ReadonlyMap<number, DayTotals>;

/** One for all days: often they differ alike. */
function differenceOfDays(counted: Days, kept: Days): string[] {
  const days = [...new Set([...counted.keys(), ...kept.keys()])].sort((one, other) => one - other);
  const [first, ...others] = days.flatMap((day) =>
    differenceOf(`day ${day}`, described(counted.get(day)), described(kept.get(day))),
  );
  if (first === undefined) return [];
  return [others.length === 0 ? first : `${first}, and ${others.length} other days`];
}

const differenceOf = (what: string, is: string, stored: string): string[] =>
  is === stored ? [] : [`${what}: ${is}, but ${stored} is stored`];

function described(totals: DayTotals | undefined): string {
  const { healthy, flaky, broken } = totals?.healths ?? { healthy: 0, flaky: 0, broken: 0 };
  return `${healthy} healthy, ${flaky} flaky and ${broken} broken tests, ${totals?.failures ?? 0} failures`;
}
