/**
 * Regroups failures: computes their groups from the stored type and message, after the fingerprint has changed. The new
 * groups of a month replace the old ones in one swap.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery, defineStatement } from '../clickhouse/query.ts';
import { NIL_ID, scope, scopeOf } from '../clickhouse/scope.ts';
import { normaliseMessage } from '../domain/fingerprint.ts';
import { failureIdOf } from '../domain/identity.ts';
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
    test_id: z.string(),
    failure_id: z.string(),
    exception_type: z.string(),
    exception_message: z.string(),
  }),
);
const failureMonths = defineLongQuery('maintenance/failure_months', {}, z.object({ month: z.number() }));
const createRegroup = defineStatement('maintenance/create_regroup', {});
const regroupedFailures = defineStatement('maintenance/regrouped_failures', { month: 'UInt32' });

export interface Regrouped {
  testId: string;
  from: string;
  to: string;
  exceptionType: string;
  exceptionMessage: string;
}

/** One failure per message whose stored group differs from its fingerprint, in one month or all, one repository or all. */
export async function* wronglyGrouped(
  clickhouse: ClickHouse,
  fingerprintVersion: number,
  { month, repositoryId }: { month?: number; repositoryId?: string } = {},
): AsyncGenerator<Regrouped[]> {
  let last: { test_id: string; failure_id: string; exception_type: string; exception_message: string } | undefined = {
    test_id: NIL_ID,
    failure_id: NIL_ID,
    exception_type: '',
    exception_message: '',
  };
  while (last) {
    const rows: (typeof last)[] = await clickhouse.select(failureTexts, {
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
      const to = failureIdOf(
        row.test_id,
        fingerprintVersion,
        row.exception_type,
        normaliseMessage(row.exception_message),
      );
      if (to === row.failure_id) return [];
      const { test_id, failure_id, exception_type, exception_message } = row;
      return [
        { testId: test_id, from: failure_id, to, exceptionType: exception_type, exceptionMessage: exception_message },
      ];
    });
    last = rows.length < MESSAGES_AT_ONCE ? undefined : rows.at(-1);
  }
}

/** Moves every failure to the group its fingerprint gives. Returns how many messages moved. */
export async function regroupFailures(clickhouse: ClickHouse, fingerprintVersion: number): Promise<number> {
  let texts = 0;
  for (const { month } of await clickhouse.select(failureMonths, {})) {
    await dropTable(clickhouse, REGROUP);
    const { sql } = createRegroup({});
    await clickhouse.command(sql);
    let part = 0;
    let inMonth = 0;
    for await (const found of wronglyGrouped(clickhouse, fingerprintVersion, { month })) {
      if (found.length === 0) continue;
      const lines = found.map((one) =>
        JSON.stringify({
          test_id: one.testId,
          from_id: one.from,
          type: one.exceptionType,
          message: one.exceptionMessage,
          to_id: one.to,
        }),
      );
      await clickhouse.insert(`ci.${REGROUP}`, `${lines.join('\n')}\n`, `regroup-${month}-${part++}`);
      inMonth += found.length;
    }
    if (inMonth > 0) await replacePartitions(clickhouse, 'failures', 'partitions', regroupedFailures({ month }));
    texts += inMonth;
  }
  await dropTable(clickhouse, REGROUP);
  return texts;
}
