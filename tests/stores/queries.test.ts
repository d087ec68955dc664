import { beforeAll, describe, expect, test } from 'bun:test';
import { readSqlFile } from '../../src/clickhouse/sql-files.ts';
import { explainable, sqlFiles, withSamples } from '../support/queries.ts';
import { openTestStores, type TestStores } from '../support/stores.ts';

const names = sqlFiles('queries').map((path) => path.replace('queries/', ''));

let stores: TestStores;
beforeAll(async () => {
  stores = await openTestStores();
});

describe('every query of sql/queries', () => {
  test.each(names)('%s runs with its sample parameters', async (name) => {
    for (const variant of ['forward', 'backward'] as const)
      await stores.clickhouse.rows(explainable(name, { variant }));
  });

  // A search looks at all names, maintenance at all rows.
  const byKey = names.filter((name) => !/^(insights\/search|maintenance\/|verify\/)/.test(name));
  test.each(byKey)('%s reads by the primary key', async (name) => {
    const plan = await stores.clickhouse.rows(`EXPLAIN indexes = 1 ${explainable(name)}`);
    const text = JSON.stringify(plan);
    // Events are looked up by time, runs by day, a run as of a moment by its hours, everything else by test.
    const keys: [RegExp, string][] = [
      [/^events\/|insights\/(?:departures|queue_checks)$/, 'received_at'],
      [/red_runs/, 'day'],
      [/commits\/runs|pull_commits|insights\/run$/, 'commit_sha'],
      [
        /commits_of_legs|insights\/(?:runs|run_lists|usual_tests|lanes|window_runs|run_days|day_revisions|pulls|setup)$/,
        'day',
      ],
      // All tests of the default branch.
      [/mean_duration|backtest\/suspects|durations_of_legs/, 'on_default'],
      [/newest_day/, 'repository_id'],
    ];
    const key = keys.find(([pattern]) => pattern.test(name))?.[1] ?? 'test_id';
    if (text.includes('ReadFromMergeTree')) expect(text).toContain(key);
  });
});

describe('every SELECT of an insert', () => {
  // ci.regroup exists only while failures are regrouped, ci.leaving while executions leave.
  const paths = [...sqlFiles('derived'), ...sqlFiles('maintenance')].filter(
    (path) => !/regroup|leaving|staying|forget_health/.test(path),
  );

  test.each(paths)('%s runs with its sample parameters', async (path) => {
    await stores.clickhouse.rows(`EXPLAIN ${withSamples(readSqlFile(path))}`);
  });
});
