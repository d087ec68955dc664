/** Measures and traces each statement by name. The values of its parameters are not recorded. */
import { statementSeconds } from '../observability/metrics.ts';
import { inChildSpan } from '../observability/tracing.ts';
import { changed } from './changed.ts';
import type { ClickHouse } from './client.ts';

export const observed = (clickhouse: ClickHouse): ClickHouse =>
  changed(clickhouse, {
    select: (query, params, turn) => observe(query.name, () => clickhouse.select(query, params, turn)),
    rows: (sql, params) => observe('rows', () => clickhouse.rows(sql, params)),
    command: (sql, params, options) => observe('command', () => clickhouse.command(sql, params, options)),
    insert: (table, lines, token, shard) =>
      observe('insert', () => clickhouse.insert(table, lines, token, shard), { 'db.collection.name': table }),
    fill: (target, select) => observe('fill', () => clickhouse.fill(target, select)),
  });

async function observe<T>(statement: string, run: () => Promise<T>, attributes = {}): Promise<T> {
  const startedAt = performance.now();
  let outcome = 'error';
  try {
    const answer = await inChildSpan(
      `clickhouse ${statement}`,
      { kind: 'client', attributes: { 'db.system.name': 'clickhouse', 'db.query.summary': statement, ...attributes } },
      run,
    );
    outcome = 'ok';
    return answer;
  } finally {
    statementSeconds.observe({ statement, outcome }, (performance.now() - startedAt) / 1_000);
  }
}
