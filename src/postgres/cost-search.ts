/**
 * Searches in the order of cost. What tests cost is in memory, in its order. So a statement is given no more places than a page is
 * likely to need, and more only if filters leave too few of them: 50 of 80,000 entries take 10 ms, and with all 8,000 places that
 * cost something they took 600. Those that cost nothing follow from the order of names, without the others.
 */
import { abandonable } from './abandonable.ts';
import type { Database, Executor } from './client.ts';
import {
  type FoundIdentity,
  foundOf,
  keyOf,
  type PlaceCost,
  type PlaceCosts,
  row,
  type SearchKey,
  searchStatement,
  type TestSearch,
  type TestSearchPart,
} from './test-search.ts';

/** More than a page with an entry more. */
const PLACES_FIRST = 200;
/** Among the entries of a page by name, so many others are expected. */
const COSTLY_BETWEEN = 50;
/** Where filters are narrow, or most tests cost something, the rest is read soon. */
const GROWTH = 8;

type SearchByCost = TestSearch & { costs: PlaceCosts };

/**
 * The same as `searchTests`, for the order by cost.
 *
 * @param signal aborted when the answer is no longer waited for: the search then ends
 */
export function searchByCost(
  db: Database,
  repositoryId: string,
  search: SearchByCost,
  signal?: AbortSignal,
): Promise<FoundIdentity[]> {
  const parts = search.isDescending === search.isBackward ? [costless, costly] : [costly, costless];
  return abandonable(
    db,
    async (session) => {
      const found: FoundIdentity[] = [];
      for (const part of parts)
        if (found.length < search.rows)
          found.push(...(await part(session, repositoryId, { ...search, rows: search.rows - found.length })));
      return found;
    },
    { signal },
  );
}

/** Whether the next amounts are greater ones. */
const isUpward = ({ isDescending, isBackward }: SearchByCost): boolean => isDescending === isBackward;

/** Those that cost something. */
async function costly(session: Executor, repositoryId: string, search: SearchByCost): Promise<FoundIdentity[]> {
  const { key, costs, rows } = search;
  if (isCostless(key) && !isUpward(search)) return [];
  const beyond = key === null || isCostless(key) ? null : key;
  const places = placesBeyond(search, beyond);
  const found: FoundIdentity[] = [];
  let start = 0;
  for (let size = PLACES_FIRST; start < places.length && found.length < rows; size *= GROWTH) {
    const end = endOfEqual(places, start + size);
    const part: TestSearchPart = {
      ...search,
      ...{ sort: 'cost', costs: new Map(places.slice(start, end)), rows: rows - found.length },
      key: beyond && [amountIn(beyond), ...textsIn(beyond)],
    };
    found.push(...(await read(session, repositoryId, part, costs)));
    start = end;
  }
  return found;
}

/** In a key, 0 is what costs nothing. */
const isCostless = (key: SearchKey | null): boolean => key?.[0] === 0;
const amountIn = ([number]: SearchKey): number => Math.abs(number) - 1;
const textsIn = ([, ...texts]: SearchKey) => texts;

/** In the order in which they are read; with those of the amount in the key. */
function placesBeyond(search: SearchByCost, key: SearchKey | null): [string, PlaceCost][] {
  const sign = isUpward(search) ? 1 : -1;
  return [...search.costs]
    .filter(([, { amount }]) => key === null || sign * (amount - amountIn(key)) >= 0)
    .sort(([, one], [, other]) => sign * (one.amount - other.amount));
}

/** The first place from there on that costs another amount than the one before: equal ones are in the order of their names. */
function endOfEqual(places: readonly [string, PlaceCost][], from: number): number {
  let end = Math.min(from, places.length);
  while (end < places.length && places[end]?.[1].amount === places[end - 1]?.[1].amount) end++;
  return end;
}

/** The others, by name. */
async function costless(session: Executor, repositoryId: string, search: SearchByCost): Promise<FoundIdentity[]> {
  const { costs, rows } = search;
  let key = isCostless(search.key) ? search.key : null;
  if (search.key !== null && key === null && isUpward(search)) return [];
  const found: FoundIdentity[] = [];
  for (let size = rows + COSTLY_BETWEEN; ; size *= GROWTH) {
    const part = { ...search, sort: 'test_name', isDescending: false, key, rows: size } as const;
    const named = await read(session, repositoryId, part, costs);
    found.push(...named.filter(({ costAmount }) => costAmount === undefined));
    const last = named.at(-1);
    if (found.length >= rows || named.length < size || !last) return found.slice(0, rows);
    key = keyOf(part, last);
  }
}

async function read(
  session: Executor,
  repositoryId: string,
  part: TestSearchPart,
  costs: PlaceCosts,
): Promise<FoundIdentity[]> {
  const { rows } = await session.execute(searchStatement(repositoryId, part));
  return rows.map((one) => foundOf(row.parse(one), { now: part.now, costs }));
}
