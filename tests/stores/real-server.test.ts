/** On a real ClickHouse server, whose user has a profile that says otherwise, and exactly the rights that the documents name. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { sentenceOf } from '../../src/cli/sentence.ts';
import { type ClickHouse, openClickHouse } from '../../src/clickhouse/client.ts';
import { migrateClickHouse } from '../../src/clickhouse/migrate.ts';
import { assertDropsRepeats, dropsRepeats } from '../../src/clickhouse/tokens.ts';
import { readConfig } from '../../src/config.ts';
import { replacePartitions } from '../../src/maintenance/partitions.ts';
import { checkClickHouse } from '../../src/operate/doctor/clickhouse.ts';
import { examine } from '../../src/operate/doctor/examine.ts';
import type { User } from '../support/clickhouse-real/configure.ts';
import {
  grantedUser,
  hasRealClickHouse,
  type RealClickHouse,
  startRealClickHouse,
} from '../support/clickhouse-real/server.ts';
import { until } from '../support/patience.ts';

const named = (name: string, user: User): User => ({ ...user, name });

/** Profiles under which inserts are not deduplicated, or reads answer differently, unless statements say otherwise. */
const PROFILES: Record<string, NonNullable<User['profile']>> = {
  disabled: { deduplicate_insert: 'disable' },
  backward: { deduplicate_insert: 'backward_compatible_choice', insert_deduplicate: 0 },
  compatible: { compatibility: '25.8', insert_deduplicate: 0 },
  selects: { deduplicate_insert_select: 'enable_even_for_bad_queries' },
  errors: { input_format_allow_errors_num: 10, materialized_views_ignore_errors: 1 },
  nulls: { aggregate_functions_null_for_empty: 1, join_use_nulls: 1 },
  json: { output_format_json_named_tuples_as_objects: 0, output_format_json_quote_decimals: 1 },
  array: { output_format_json_array_of_rows: 1 },
  cache: { use_query_cache: 1 },
  limited: { limit: 1, max_result_rows: 1, result_overflow_mode: 'break', max_block_size: 1 },
};
const profiled = Object.entries(PROFILES).map(([name, profile]) => named(name, grantedUser(profile)));

/** Each lacks one of the rights. */
const LACKING = [
  ['tables', /ON ci\./, 'SELECT'],
  ['engines', /TABLE ENGINE/, 'CREATE TABLE'],
  ['parts', /system\.parts/, 'SELECT from system.parts'],
  ['processes', /system\.processes/, 'KILL QUERY'],
] as const;
const lacking = LACKING.map(([name, without]) => named(name, grantedUser({}, without)));

const service = grantedUser();
const readers = [1, 2].map((readonly) => named(`readonly${readonly}`, grantedUser({ readonly })));
const reduced: User = {
  ...named('reduced', service),
  grants: ['GRANT SELECT, INSERT, ALTER ON ci.*', 'GRANT SELECT ON system.parts'],
};

describe.skipIf(!hasRealClickHouse)('a real ClickHouse server', () => {
  let server: RealClickHouse;
  beforeAll(async () => {
    server = await startRealClickHouse([service, reduced, ...profiled, ...lacking, ...readers]);
  });
  afterAll(() => server.stop());

  async function as<T>(user: User, run: (clickhouse: ClickHouse) => Promise<T>): Promise<T> {
    const clickhouse = await openClickHouse({ url: server.url(user), path: '' });
    try {
      return await run(clickhouse);
    } finally {
      await clickhouse.close();
    }
  }

  const doctor = (user: User) => as(user, (clickhouse) => checkClickHouse(clickhouse, true));
  const problemsOf = async (user: User) => (await doctor(user)).filter(({ level }) => level === 'problem');

  test('before the first migration doctor finds the rights sufficient, and the migration runs with them', async () => {
    expect((await problemsOf(service)).map(({ check }) => check)).toEqual(['ClickHouse migrations']);
    expect(await as(service, migrateClickHouse)).toEqual([1]);
    expect(await as(service, migrateClickHouse)).toEqual([]);
  });

  test('on a migrated database doctor finds no problem, and names what was tried', async () => {
    const findings = await doctor(service);
    expect(findings.filter(({ level }) => level !== 'ok')).toEqual([]);
    const checks = findings.map(({ check }) => check);
    for (const check of ['ClickHouse permissions', 'ClickHouse inserts', 'ClickHouse durability'])
      expect(checks).toContain(check);
  });

  test('a service on a migrated database needs no right to create', async () => {
    await as(reduced, async (clickhouse) => {
      expect(await migrateClickHouse(clickhouse)).toEqual([]);
      await assertDropsRepeats(clickhouse);
    });
  });

  test.each(LACKING.map(([name, , what]) => [name, what] as const))(
    'doctor says what is missing without the rights on %s, and how to grant them',
    async (name, what) => {
      const user = lacking.find((one) => one.name === name) as User;
      const [found] = await problemsOf(user);
      expect(`${found?.message} ${found?.remedy}`).toContain(what);
      expect(found?.remedy ?? '').toContain('GRANT');
    },
  );

  test('a migration that is not permitted ends with the rights to grant', async () => {
    const user = lacking.find(({ name }) => name === 'engines') as User;
    await server.ask('DROP DATABASE ci SYNC');
    try {
      const failed = await as(user, migrateClickHouse).then(
        () => 'no error',
        (error) => sentenceOf(error),
      );
      expect(failed).toContain('TABLE ENGINE ON');
      expect(failed).toContain('GRANT SELECT ON system.parts TO <user>;');
    } finally {
      await as(service, migrateClickHouse);
    }
  });

  test.each(Object.keys(PROFILES))('whatever the profile %s says, a repeat is dropped', async (name) => {
    const user = profiled.find((one) => one.name === name) as User;
    expect(await as(user, dropsRepeats)).toBe(true);
  });

  test.each(Object.keys(PROFILES))('whatever the profile %s says, reads answer the same', async (name) => {
    const user = profiled.find((one) => one.name === name) as User;
    const rows = await as(user, (clickhouse) =>
      clickhouse.rows(`
        SELECT number, max(missing) AS newest, tuple(1, 'a')::Tuple(n UInt8, t String) AS pair, toDecimal32(1.5, 1) AS decimal
        FROM (SELECT arrayJoin([1, 2, 3]) AS number) AS numbers
        LEFT JOIN (SELECT 5 AS other, 7 AS missing) AS others ON number = other
        GROUP BY number ORDER BY number`),
    );
    const row = { newest: 0, pair: { n: 1, t: 'a' }, decimal: 1.5 };
    expect(rows).toEqual([1, 2, 3].map((number) => ({ number, ...row })));
  });

  test.each(Object.keys(PROFILES))('whatever the profile %s says, a rebuild keeps equal rows', async (name) => {
    const user = profiled.find((one) => one.name === name) as User;
    const table = `kept_${name}`;
    await server.ask(
      `CREATE TABLE ci.${table} (n UInt32) ENGINE = MergeTree ORDER BY n SETTINGS non_replicated_deduplication_window = 100`,
    );
    const equal = { sql: 'SELECT toUInt32(1) AS n ORDER BY ALL', params: {} };
    const stored = await as(user, async (clickhouse) => {
      for (let i = 0; i < 3; i++) await clickhouse.fill(`ci.${table}`, equal);
      const counted = await clickhouse.rows(`SELECT toUInt32(count()) AS rows FROM ci.${table}`);
      await replacePartitions(clickhouse, table, 'table', equal, equal);
      return [counted, await clickhouse.rows(`SELECT toUInt32(count()) AS rows FROM ci.${table}`)];
    });
    expect(stored).toEqual([[{ rows: 3 }], [{ rows: 2 }]]);
  });

  test('a server that stores a repeat is refused at start, and doctor says so', async () => {
    await server.ask('ALTER TABLE ci.probes MODIFY SETTING non_replicated_deduplication_window = 0');
    try {
      const failed = await as(service, assertDropsRepeats).then(
        () => 'no error',
        (error) => sentenceOf(error),
      );
      expect(failed).toContain('stored twice');
      expect((await problemsOf(service)).map(({ check }) => check)).toEqual(['ClickHouse inserts']);
    } finally {
      await server.ask('ALTER TABLE ci.probes MODIFY SETTING non_replicated_deduplication_window = 10000');
    }
  });

  test.each(readers.map((user) => [user.name, user] as const))(
    'a user who may only read (%s) is named as that at start and by doctor',
    async (_, user) => {
      const failed = await as(user, assertDropsRepeats).then(
        () => 'no error',
        (error) => sentenceOf(error),
      );
      expect(failed).toContain('read-only');
      const url = server.url(user);
      const found = await examine(
        readConfig({ CLICKHOUSE_URL: url, DATABASE_URL: 'postgresql://user@127.0.0.1:1/ci' }),
      );
      const problems = found.filter(({ check, level }) => check.startsWith('ClickHouse') && level === 'problem');
      expect(problems.length).toBeGreaterThan(0);
      for (const { remedy } of problems) expect(remedy).toContain('read-only');
    },
  );

  test('a read that is no longer waited for is ended with the rights of the service', async () => {
    const endless = {
      name: 'endless',
      sql: 'SELECT sum(a + b) AS n FROM (SELECT arrayJoin(range(1000000)) AS a) AS x CROSS JOIN (SELECT arrayJoin(range(1000000)) AS b) AS y',
      samples: {},
      params: {},
      isLong: true,
    };
    const gone = new AbortController();
    const running = async (): Promise<string> =>
      (await server.ask("SELECT count() FROM system.processes WHERE query LIKE '/* endless %'")).trim();
    await as(service, async (clickhouse) => {
      const turn = { owner: 'acme', signal: gone.signal };
      const reading = clickhouse.select({ ...endless, row: z.unknown() }, {}, turn).catch((error) => error);
      await until(running, (count) => count !== '0');
      gone.abort(new Error('the client has gone'));
      expect(await reading).toEqual(new Error('the client has gone'));
      await until(running, (count) => count === '0');
    });
  });
});
