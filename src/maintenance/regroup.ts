/**
 * Regroups failures: computes their groups from the stored type and message, after the fingerprint has changed. The new
 * groups of a month replace the old ones in one swap. PostgreSQL keeps where the failures of a group went, so that links
 * to it still lead somewhere.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery, defineStatement } from '../clickhouse/query.ts';
import { NIL_ID, scope, scopeOf } from '../clickhouse/scope.ts';
import { FINGERPRINT_VERSION, normaliseMessage } from '../domain/fingerprint.ts';
import { failureIdOf } from '../domain/identity.ts';
import type { Database } from '../postgres/client.ts';
import { forgetOutdatedCommits } from '../postgres/commit-records.ts';
import { type FormerGroup, recordFormerGroups } from '../postgres/former-groups.ts';
import { dropTable, replacePartitions } from './partitions.ts';

/** Distinct messages per statement. Each has at most 64 KiB, and usually a hundred bytes. */
const MESSAGES_AT_ONCE = 10_000;
/** The table of changed groups, which exists only while failures are regrouped. */
const REGROUP = 'regroup';

const failureTexts = defineLongQuery(
  'maintenance/failure_texts',
  {
    ...scope,
    is_every_month: 'Bool',
    month: 'UInt32',
    test_id: 'UUID',
    failure_id: 'UUID',
    type: 'String',
    message: 'String',
    rows: 'UInt32',
  },
  z.object({
    repository: z.string(),
    test_id: z.string(),
    failure_id: z.string(),
    exception_type: z.string(),
    exception_message: z.string(),
    last_ms: z.number(),
  }),
);
const failureMonths = defineLongQuery('maintenance/failure_months', {}, z.object({ month: z.number() }));
const createRegroup = defineStatement('maintenance/create_regroup', {});
const regroupedFailures = defineStatement('maintenance/regrouped_failures', { month: 'UInt32' });

/** The group of a failure by its test, exception type and message. */
export type GroupOf = (testId: string, exceptionType: string, exceptionMessage: string) => string;

/** The group that this version gives a failure. */
export const currentGroupOf: GroupOf = (testId, type, message) =>
  failureIdOf(testId, FINGERPRINT_VERSION, type, normaliseMessage(message));

interface Regrouped extends FormerGroup {
  exceptionType: string;
  exceptionMessage: string;
}

/** One failure per message whose stored group differs from its fingerprint, in one month or all, one repository or all. */
export async function* wronglyGrouped(
  clickhouse: ClickHouse,
  groupOf: GroupOf,
  { month, repositoryId }: { month?: number; repositoryId?: string } = {},
): AsyncGenerator<Regrouped[]> {
  let last: Omit<z.infer<typeof failureTexts.row>, 'repository' | 'last_ms'> | undefined = {
    test_id: NIL_ID,
    failure_id: NIL_ID,
    exception_type: '',
    exception_message: '',
  };
  while (last) {
    const rows: z.infer<typeof failureTexts.row>[] = await clickhouse.select(failureTexts, {
      ...scopeOf(repositoryId),
      is_every_month: month === undefined,
      month: month ?? 0,
      test_id: last.test_id,
      failure_id: last.failure_id,
      type: last.exception_type,
      message: last.exception_message,
      rows: MESSAGES_AT_ONCE,
    });
    yield rows.flatMap((row) => {
      const movedTo = groupOf(row.test_id, row.exception_type, row.exception_message);
      if (movedTo === row.failure_id) return [];
      return [
        {
          repositoryId: row.repository,
          testId: row.test_id,
          failureId: row.failure_id,
          movedTo,
          lastAt: row.last_ms,
          exceptionType: row.exception_type,
          exceptionMessage: row.exception_message,
        },
      ];
    });
    last = rows.length < MESSAGES_AT_ONCE ? undefined : rows.at(-1);
  }
}

/** The months that have failures, newest first. */
export const monthsOfFailures = async (clickhouse: ClickHouse): Promise<number[]> =>
  (await clickhouse.select(failureMonths, {})).map(({ month }) => month).sort((a, b) => b - a);

interface RegroupDeps {
  clickhouse: ClickHouse;
  postgres: { db: Database };
}

interface RegroupMonthOptions {
  groupOf: GroupOf;
  /** Whether the state of the tests is to be derived later ({@link recordFormerGroups}). */
  isPending: boolean;
  /** Runs the swap while nothing is stored. */
  whileNothingIsStored(swap: () => Promise<void>): Promise<void>;
}

/**
 * Moves every failure of a month to the group its fingerprint gives. Returns how many messages moved. Cut off, it
 * begins again with what has not moved.
 */
export async function regroupMonth(
  { clickhouse, postgres: { db } }: RegroupDeps,
  month: number,
  { groupOf, isPending, whileNothingIsStored }: RegroupMonthOptions,
): Promise<number> {
  await dropTable(clickhouse, REGROUP);
  const { sql } = createRegroup({});
  await clickhouse.command(sql);
  let part = 0;
  let texts = 0;
  for await (const found of wronglyGrouped(clickhouse, groupOf, { month })) {
    if (found.length === 0) continue;
    const lines = found.map((one) =>
      JSON.stringify({
        test_id: one.testId,
        from_id: one.failureId,
        type: one.exceptionType,
        message: one.exceptionMessage,
        to_id: one.movedTo,
      }),
    );
    await clickhouse.insert(`ci.${REGROUP}`, `${lines.join('\n')}\n`, `regroup-${month}-${part++}`);
    // Before they move: a group that is gone must have its successor.
    await recordFormerGroups(db, found, isPending);
    texts += found.length;
  }
  if (texts > 0)
    await whileNothingIsStored(async () => {
      await replacePartitions(clickhouse, 'failures', 'partitions', regroupedFailures({ month }));
      await forgetOutdatedCommits(db);
    });
  await dropTable(clickhouse, REGROUP);
  return texts;
}

/** Moves every failure to the group its fingerprint gives, while nothing is stored. Returns how many messages moved. */
export async function regroupFailures(deps: RegroupDeps, groupOf: GroupOf): Promise<number> {
  let texts = 0;
  for (const month of await monthsOfFailures(deps.clickhouse))
    texts += await regroupMonth(deps, month, {
      groupOf,
      isPending: false,
      whileNothingIsStored: (swap) => swap(),
    });
  return texts;
}
