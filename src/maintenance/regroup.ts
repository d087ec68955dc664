/**
 * Regroups failures: their groups are computed anew from the stored type and message. For a fingerprint that has changed; the new
 * groups stand in for the old ones in one swap a month.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { normaliseMessage } from '../domain/fingerprint.ts';
import { failureIdOf } from '../domain/identity.ts';
import { replacePartitions } from './partitions.ts';

/** Distinct messages read in one statement: of 64 KiB at most each, usually of a hundred bytes. */
const MESSAGES_AT_ONCE = 10_000;

const groupRow = z.object({
  test_id: z.string(),
  failure_id: z.string(),
  exception_type: z.string(),
  exception_message: z.string(),
});

export interface Regrouped {
  testId: string;
  from: string;
  to: string;
  exceptionType: string;
  exceptionMessage: string;
}

/** Failures, one of every text, that stand in another group than the fingerprint gives them; of everything or of one repository. */
export async function* wronglyGrouped(
  clickhouse: ClickHouse,
  fingerprintVersion: number,
  scope: { month?: string; repositoryId?: string } = {},
): AsyncGenerator<Regrouped[]> {
  const where = [
    ...(scope.month === undefined ? [] : ['toYYYYMM(failed_at) = {month: UInt32}']),
    ...(scope.repositoryId === undefined ? [] : ['repository_id = {repository_id: UUID}']),
    '(test_id, failure_id, exception_type, exception_message) > ({test_id: UUID}, {failure_id: UUID}, {type: String}, {message: String})',
  ];
  let last: z.infer<typeof groupRow> | undefined = {
    test_id: '00000000-0000-0000-0000-000000000000',
    failure_id: '00000000-0000-0000-0000-000000000000',
    exception_type: '',
    exception_message: '',
  };
  while (last) {
    const rows: z.infer<typeof groupRow>[] = z.array(groupRow).parse(
      await clickhouse.rows(
        `SELECT test_id, failure_id, exception_type, exception_message FROM ci.failures WHERE ${where.join(' AND ')}
         GROUP BY test_id, failure_id, exception_type, exception_message
         ORDER BY test_id, failure_id, exception_type, exception_message LIMIT ${MESSAGES_AT_ONCE}`,
        {
          month: Number(scope.month ?? 0),
          repository_id: scope.repositoryId ?? last.test_id,
          test_id: last.test_id,
          failure_id: last.failure_id,
          type: last.exception_type,
          message: last.exception_message,
        },
      ),
    );
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

/** Moves every failure into its group. Returns how many texts changed groups. */
export async function regroupFailures(clickhouse: ClickHouse, fingerprintVersion: number): Promise<number> {
  const months = z
    .array(z.object({ month: z.number() }))
    .parse(await clickhouse.rows('SELECT DISTINCT toYYYYMM(failed_at) AS month FROM ci.failures ORDER BY month'));
  let texts = 0;
  for (const { month } of months) {
    await clickhouse.command('DROP TABLE IF EXISTS ci.regroup SYNC');
    await clickhouse.command(
      `CREATE TABLE ci.regroup (test_id UUID, from_id UUID, type String, message String, to_id UUID)
       ENGINE = MergeTree ORDER BY (test_id, from_id)`,
    );
    let part = 0;
    let inMonth = 0;
    for await (const found of wronglyGrouped(clickhouse, fingerprintVersion, { month: String(month) })) {
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
      await clickhouse.insert('ci.regroup', `${lines.join('\n')}\n`, `regroup-${month}-${part++}`);
      inMonth += found.length;
    }
    if (inMonth > 0)
      await replacePartitions(
        clickhouse,
        'failures',
        `SELECT f.* REPLACE (if(g.type = '' AND g.message = '', f.failure_id, g.to_id) AS failure_id)
         FROM (SELECT * FROM ci.failures WHERE toYYYYMM(failed_at) = ${month}) AS f
         LEFT ANY JOIN ci.regroup AS g ON g.test_id = f.test_id AND g.from_id = f.failure_id
           AND g.type = f.exception_type AND g.message = f.exception_message`,
      );
    texts += inMonth;
  }
  await clickhouse.command('DROP TABLE IF EXISTS ci.regroup SYNC');
  return texts;
}
