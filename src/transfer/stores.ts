/** The parts of opened stores that a transfer works on. */
import { Months } from '../clickhouse/months.ts';
import type { Deps } from '../deps.ts';

export const monthsOf = ({ clickhouse, config }: Deps): Months =>
  new Months(clickhouse, {
    url: config.clickhouseUrl,
    cluster: config.clickhouseCluster,
    database: config.clickhouseDatabase,
  });
