/** Brings the months of a ClickHouse to the rows that another one or a dump has, and leaves those that are equal already. */
import type { Contents, Month, Months } from '../clickhouse/months.ts';
import { grouped } from '../domain/grouped-number.ts';
import { monthInWords } from '../domain/retention.ts';
import { UserError } from '../errors.ts';

/** Told line by line. */
export type Progress = (line: string) => void;

export interface ExpectedMonth extends Month {
  contents: Contents;
}

export async function expectedMonths(months: Months): Promise<ExpectedMonth[]> {
  const expected: ExpectedMonth[] = [];
  for (const month of await months.list()) expected.push({ ...month, contents: await months.contentsOf(month) });
  return expected;
}

/**
 * Throws a {@link UserError} if a month does not have the expected rows afterwards.
 *
 * @param fileOf gives a file with the rows of a month, which `release` may remove
 */
export async function bringMonths(
  target: Months,
  expected: readonly ExpectedMonth[],
  fileOf: (month: Month) => Promise<{ path: string; release: () => Promise<void> }>,
  progress: Progress,
): Promise<void> {
  for (const month of await target.list()) if (!expected.some((one) => isSame(one, month))) await target.drop(month);
  for (const month of expected) {
    const { contents } = month;
    const isThere = isEqual(await target.contentsOf(month), contents);
    if (!isThere) await bring(target, month, fileOf);
    progress(`${nameOf(month)}: ${grouped(contents.rows)} rows${isThere ? ', there already' : ''}`);
  }
}

async function bring(
  target: Months,
  month: ExpectedMonth,
  fileOf: (month: Month) => Promise<{ path: string; release: () => Promise<void> }>,
): Promise<void> {
  const { path, release } = await fileOf(month);
  try {
    await target.replace(month, path);
  } finally {
    await release();
  }
  if (!isEqual(await target.contentsOf(month), month.contents))
    throw new UserError(
      `${nameOf(month)} does not have the rows that it should have: something wrote to the stores meanwhile. Stop it, and run this again.`,
    );
}

/** Such as `executions of 2026-11`. */
export const nameOf = ({ table, month }: Month): string => `${table} of ${monthInWords(Number(month))}`;

const isSame = (one: Month, other: Month): boolean => one.table === other.table && one.month === other.month;
const isEqual = (one: Contents, other: Contents): boolean => one.rows === other.rows && one.digest === other.digest;
