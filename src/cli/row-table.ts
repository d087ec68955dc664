/** How many rows of each table go, or went. */
import { formatTable } from '../client/output.ts';
import type { RowCounts } from '../domain/deletion.ts';

/** Most rows first. */
export const rowTable = (rows: RowCounts): string =>
  formatTable(
    ['TABLE', 'ROWS'],
    Object.entries(rows)
      .sort(([, one], [, other]) => other - one)
      .map(([name, many]) => [name, many.toLocaleString('en-US')]),
  );
