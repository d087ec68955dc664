/** The parts of opened stores that a transfer works on. */
import { Months } from '../clickhouse/months.ts';
import type { Deps } from '../deps.ts';

export const monthsOf = ({ clickhouse, config: { clickhouseUrl, clickhouseCluster } }: Deps): Months =>
  new Months(clickhouse, { url: clickhouseUrl, cluster: clickhouseCluster });
