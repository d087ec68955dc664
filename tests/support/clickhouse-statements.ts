/**
 * Runs statements on an embedded data folder that no service has open, in a separate process: the engine reads its server
 * configuration from `config.xml` of the working folder.
 *
 * `bun tests/support/clickhouse-statements.ts <data folder> <statement>…`
 */
import { openClickHouse } from '../../src/clickhouse/client.ts';

const [path = '', ...statements] = process.argv.slice(2);
const clickhouse = await openClickHouse({ url: undefined, path });
for (const statement of statements) await clickhouse.command(statement);
await clickhouse.close();
process.exit(0);
