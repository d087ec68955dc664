/**
 * Writes the figures of one run into docs/performance.md, between its comments:
 * `bun run bench --json > figures.jsonl; bun tests/bench/document.ts figures.jsonl`.
 */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type Figure, figure, tableByName, tableOf } from './report.ts';

const DOCUMENT = join(resolve(import.meta.dir, '../..'), 'docs/performance.md');

const figureSchema: z.ZodType<Figure> = z.object({
  name: z.string(),
  value: z.number(),
  unit: z.string(),
  postgres: z.number().nullable(),
  bare: z.number().nullable(),
  goal: z.string(),
  reached: z.boolean().nullable(),
});

/** The figures of a read that stand in its row. */
const READ_COLUMNS = {
  '64_connections': '64 connections',
  alone: 'PostgreSQL alone',
  median: 'one client: median',
  p99: '99th percentile',
  during_ingest_times: 'in ingest, times',
  during_ingest_p99: 'in ingest, 99th',
};
/** Not of a read, though their names end like one. */
const isOther = ({ name }: Figure): boolean =>
  /^(machine|ingest|visible|memory|disk|identities|start|backtest)\b/.test(name);
/** The same to 64 connections from PostgreSQL alone. */
const aloneOf = ({ name, postgres, unit }: Figure): Figure[] =>
  postgres !== null && name.endsWith('.64_connections')
    ? [figure(name.replace(/\.64_connections$/, '.alone'), postgres, unit)]
    : [];
const isShown = ({ name }: Figure): boolean =>
  !/^(machine|start|identities|memory\.(growth_|tenth_)|disk\.(clickhouse|postgres)_)/.test(name);

function between(text: string, name: string, table: string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, '\n<!-- end -->'];
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from === -1 || to === -1) throw new Error(`docs/performance.md has no place for ${name}`);
  return text.slice(0, from + begin.length) + narrow(table) + text.slice(to);
}

/** Columns as wide as each cell: the lines of a document have a limit. */
const narrow = (table: string): string => table.replace(/ {2,}\|/g, ' |').replace(/-{4,}/g, '---');

const [path = ''] = process.argv.slice(2);
const lines = (await Bun.file(path).text()).split('\n').filter((line) => line.startsWith('{'));
const figures = lines.map((line) => figureSchema.parse(JSON.parse(line)));
const reads = figures.filter((one) => !isOther(one));
let text = await Bun.file(DOCUMENT).text();
text = between(text, 'reads', tableByName([...reads, ...reads.flatMap(aloneOf)], 'read', READ_COLUMNS));
text = between(text, 'others', tableOf(figures.filter((one) => isOther(one) && isShown(one))));
await Bun.write(DOCUMENT, text);
