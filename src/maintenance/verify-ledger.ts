/**
 * Compares what the ledger claims with what is stored, execution by execution, in every month that is retained.
 *
 * Beside a running service, both change meanwhile. So an execution is missing only if its block was stored before
 * ClickHouse was read, and unclaimed only if nothing claims it after that.
 */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import type { Clock } from '../clock.ts';
import { monthInWords, oldestRetainedMonth } from '../domain/retention.ts';
import { allClaims, type ClaimsAt } from '../ledger/claim-store.ts';
import { forgottenIn } from '../ledger/forgotten-executions.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { repositoriesLeaving } from './leaving.ts';

const sums = defineLongQuery(
  'verify/stored_sums',
  { from_month: 'UInt32', leaving: 'Array(UUID)' },
  z.object({ month: z.number(), executions: z.number(), ids_xor: z.string() }),
);
const ids = defineLongQuery(
  'verify/stored_ids',
  { month: 'UInt32', part: 'UInt8', leaving: 'Array(UUID)' },
  z.object({ execution_id: z.string().transform(BigInt) }),
);
/** Same number as in sql/queries/verify/stored_ids.sql, which cuts a month into so many parts. */
const PARTS = 16;
const EXAMPLES_MAX = 3;
const MONTH_MAX = 999_912;
const NOTHING: Sum = { executions: 0, xor: 0n };

export interface LedgerDeps {
  clickhouse: ClickHouse;
  postgres: { db: Database };
  clock: Clock;
  config: { retentionDays: number };
}

export interface LedgerComparison {
  /** How many executions are missing or unclaimed. */
  count: number;
  differences: string[];
}

interface Sum {
  executions: number;
  xor: bigint;
}

export async function compareLedger(deps: LedgerDeps): Promise<LedgerComparison> {
  const comparison: LedgerComparison = { count: 0, differences: [] };
  for await (const difference of monthsThatDiffer(deps)) addTo(comparison, difference);
  return comparison;
}

function addTo(comparison: LedgerComparison, { month, missing, unclaimed, closed, repeated }: MonthDifference): void {
  const name = monthInWords(month);
  comparison.count += missing.length + repeated;
  if (repeated > 0) comparison.differences.push(`${repeated} executions of ${name} are stored more than once`);
  if (missing.length > 0)
    comparison.differences.push(
      `${missing.length} executions of ${name} are claimed, but not stored: ${examples(missing)}`,
    );
  if (isSame(sumOf(unclaimed), closed)) return;
  // At least one, where one is missing for another that is too many.
  comparison.count += Math.max(Math.abs(unclaimed.length - closed.executions), 1);
  if (closed.executions > 0)
    comparison.differences.push(
      `${unclaimed.length} executions of ${name} are stored, and ${closed.executions} are in closed claims, or other ones`,
    );
  else
    comparison.differences.push(
      `${unclaimed.length} executions of ${name} are stored, but not claimed: ${examples(unclaimed)}`,
    );
}

/** Closed claims keep the sum of their executions. */
export const sumOf = (ids: readonly bigint[]): Sum => ({
  executions: ids.length,
  xor: ids.reduce((xor, id) => xor ^ id, 0n),
});

/** A month in which the ledger and what is stored differ; the ids of executions. */
export interface MonthDifference {
  month: number;
  /** Claimed by a stored block, but not stored. */
  missing: bigint[];
  /** Stored, and in no open claim. */
  unclaimed: bigint[];
  /** The sum of the executions in closed claims: if all is well, that of the unclaimed ones. */
  closed: Sum;
  /** How many are stored once more than they should be. */
  repeated: number;
  /** Stored, and claimed by a block that is not recorded as stored. */
  early: bigint[];
}

export async function* monthsThatDiffer({
  clickhouse,
  postgres,
  clock,
  config,
}: LedgerDeps): AsyncGenerator<MonthDifference> {
  const { db } = postgres;
  const oldest = oldestRetainedMonth(clock.now(), config.retentionDays);
  // Before claims are read: those of a deletion that begins meanwhile are there, or no longer.
  const leaving = await repositoriesLeaving(db);
  const storedBy = await serverTime(db);
  const claimed = await sumClaims(db, { storedBy, leaving }, oldest);
  const stored = new Map<number, Sum>();
  for (const row of await clickhouse.select(sums, { from_month: oldest, leaving }))
    stored.set(row.month, { executions: row.executions, xor: BigInt(row.ids_xor) });
  for (const month of new Set([...claimed.keys(), ...stored.keys()]))
    if (!isSame(claimed.get(month), stored.get(month)))
      yield await compareMonth({ clickhouse, db, month, storedBy, leaving });
}

/** The time of the PostgreSQL server: claims of blocks that were stored by then count as stored. */
export async function serverTime(db: Database): Promise<string> {
  const { rows } = await onPostgres(() => db.execute<{ now: string }>(sql`select clock_timestamp()::text as now`));
  return rows[0]?.now ?? '';
}

export const isSame = (one = NOTHING, other = NOTHING): boolean =>
  one.executions === other.executions && one.xor === other.xor;

async function sumClaims(db: Database, when: ClaimsAt, oldest: number): Promise<Map<number, Sum>> {
  const months = new Map<number, Sum>();
  for await (const claim of allClaims(db, when)) {
    if (!claim.wasStored || claim.month < oldest) continue;
    const sum = months.get(claim.month) ?? { executions: 0, xor: 0n };
    months.set(claim.month, sum);
    sum.executions += claim.closed ?? claim.ids.length;
    for (const id of claim.ids) sum.xor ^= id;
  }
  // Claimed, but gone with a forgotten test.
  for await (const { month, ids } of forgottenIn(db, { from: oldest, to: MONTH_MAX, leaving: when.leaving })) {
    const sum = months.get(month) ?? { executions: 0, xor: 0n };
    months.set(month, sum);
    sum.executions -= ids.length;
    for (const id of ids) sum.xor ^= id;
  }
  return months;
}

/** Ids in eight bytes each, because a month may have millions. */
class Ids {
  #ids = new BigUint64Array(1_024);
  #length = 0;

  add(id: bigint): void {
    if (this.#length === this.#ids.length) {
      const larger = new BigUint64Array(this.#ids.length * 2);
      larger.set(this.#ids);
      this.#ids = larger;
    }
    this.#ids[this.#length++] = id;
  }

  /** Ids in that part of the month. */
  part(part: number): Set<bigint> {
    return new Set(this.#ids.subarray(0, this.#length).filter((id) => id % BigInt(PARTS) === BigInt(part)));
  }
}

interface Month extends ClaimsAt {
  clickhouse: ClickHouse;
  db: Database;
  month: number;
}

async function compareMonth({ clickhouse, db, month, storedBy, leaving }: Month): Promise<MonthDifference> {
  const stored: BigUint64Array[] = [];
  for (let part = 0; part < PARTS; part++)
    stored.push(
      BigUint64Array.from((await clickhouse.select(ids, { month, part, leaving })).map((row) => row.execution_id)),
    );
  // Claimed executions must be there; those of a block that was not stored yet may be.
  const claimed = new Ids();
  const perhaps = new Ids();
  // Executions in closed claims are known by their number and the exclusive or of their ids.
  const closed: Sum = { executions: 0, xor: 0n };
  for await (const claim of allClaims(db, { storedBy, leaving })) {
    if (claim.month !== month) continue;
    if (claim.closed !== null) {
      closed.executions += claim.closed;
      for (const id of claim.ids) closed.xor ^= id;
      continue;
    }
    const known = claim.wasStored ? claimed : perhaps;
    for (const id of claim.ids) known.add(id);
  }
  const forgotten = new Ids();
  for await (const gone of forgottenIn(db, { from: month, to: month, leaving }))
    for (const id of gone.ids) forgotten.add(id);
  const difference: MonthDifference = { month, missing: [], unclaimed: [], early: [], closed, repeated: 0 };
  for (const [part, storedIds] of stored.entries()) {
    const there = new Set(storedIds);
    difference.repeated += storedIds.length - there.size;
    const open = claimed.part(part);
    const gone = forgotten.part(part);
    const must = open.difference(gone);
    for (const id of gone.difference(open)) {
      closed.executions--;
      closed.xor ^= id;
    }
    const may = perhaps.part(part);
    for (const id of must) if (!there.has(id)) difference.missing.push(id);
    for (const id of there) if (!must.has(id)) (may.has(id) ? difference.early : difference.unclaimed).push(id);
  }
  return difference;
}

const examples = (ids: readonly bigint[]): string =>
  `${ids.slice(0, EXAMPLES_MAX).join(', ')}${ids.length > EXAMPLES_MAX ? ', …' : ''}`;
