/** Rows that a statement gives for several things that were asked for, each row with the place of its thing, from 1. */

/** The rows of each place, in the order of the places. A place without rows has none. */
export function byPlace<Row extends { place: number }>(rows: readonly Row[]): Row[][] {
  const places: Row[][] = [];
  for (const row of rows) {
    const here = places[row.place - 1] ?? [];
    places[row.place - 1] = here;
    here.push(row);
  }
  return places;
}
