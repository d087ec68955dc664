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
import { oldestRetainedMonth } from '../domain/retention.ts';
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

export async function compareLedger({ clickhouse, postgres, clock, config }: LedgerDeps): Promise<LedgerComparison> {
  const { db } = postgres;
  const oldest = oldestRetainedMonth(clock.now(), config.retentionDays);
  // Before claims are read: those of a deletion that begins meanwhile are there, or no longer.
  const leaving = await repositoriesLeaving(db);
  const storedBy = await serverTime(db);
  const claimed = await sumClaims(db, { storedBy, leaving }, oldest);
  const stored = new Map<number, Sum>();
  for (const row of await clickhouse.select(sums, { from_month: oldest, leaving }))
    stored.set(row.month, { executions: row.executions, xor: BigInt(row.ids_xor) });
  const comparison: LedgerComparison = { count: 0, differences: [] };
  for (const month of new Set([...claimed.keys(), ...stored.keys()]))
    if (!isSame(claimed.get(month), stored.get(month)))
      await compareMonth({ clickhouse, db, month, storedBy, leaving }, comparison);
  return comparison;
}

async function serverTime(db: Database): Promise<string> {
  const { rows } = await onPostgres(() => db.execute<{ now: string }>(sql`select clock_timestamp()::text as now`));
  return rows[0]?.now ?? '';
}

const isSame = (one = NOTHING, other = NOTHING): boolean =>
  one.executions === other.executions && one.xor === other.xor;

async function sumClaims(db: Database, when: ClaimsAt, oldest: number): Promise<Map<number, Sum>> {
  const months = new Map<number, Sum>();
  for await (const claim of allClaims(db, when)) {
    if (!claim.wasStored || claim.month < oldest) continue;
    const sum = months.get(claim.month) ?? { executions: 0, xor: 0n };
    months.set(claim.month, sum);
    sum.executions += claim.ids.length;
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

async function compareMonth(
  { clickhouse, db, month, storedBy, leaving }: Month,
  comparison: LedgerComparison,
): Promise<void> {
  const stored: BigUint64Array[] = [];
  for (let part = 0; part < PARTS; part++)
    stored.push(
      BigUint64Array.from((await clickhouse.select(ids, { month, part, leaving })).map((row) => row.execution_id)),
    );
  // Claimed executions must be there; those of a block that was not stored yet may be.
  const claimed = new Ids();
  const perhaps = new Ids();
  for await (const claim of allClaims(db, { storedBy, leaving })) {
    if (claim.month !== month) continue;
    const known = claim.wasStored ? claimed : perhaps;
    for (const id of claim.ids) known.add(id);
  }
  const forgotten = new Ids();
  for await (const gone of forgottenIn(db, { from: month, to: month, leaving }))
    for (const id of gone.ids) forgotten.add(id);
  const missing = new Found();
  const unclaimed = new Found();
  for (const [part, storedIds] of stored.entries()) {
    const there = new Set(storedIds);
    const must = claimed.part(part).difference(forgotten.part(part));
    const may = perhaps.part(part);
    for (const id of must) if (!there.has(id)) missing.add(id);
    for (const id of there) if (!must.has(id) && !may.has(id)) unclaimed.add(id);
  }
  const name = `${Math.floor(month / 100)}-${String(month % 100).padStart(2, '0')}`;
  comparison.count += missing.count + unclaimed.count;
  if (missing.count > 0)
    comparison.differences.push(
      `${missing.count} executions of ${name} are claimed, but not stored: ${missing.examples}`,
    );
  if (unclaimed.count > 0)
    comparison.differences.push(
      `${unclaimed.count} executions of ${name} are stored, but not claimed: ${unclaimed.examples}`,
    );
}

class Found {
  count = 0;
  #examples: bigint[] = [];

  add(id: bigint): void {
    this.count++;
    if (this.#examples.length < EXAMPLES_MAX) this.#examples.push(id);
  }

  get examples(): string {
    return `${this.#examples.join(', ')}${this.count > this.#examples.length ? ', …' : ''}`;
  }
}
