/**
 * Writes the figures of one run into docs/performance.md, or those of `--rows` and `--roles` into docs/capacity.md, between
 * their comments: `bun run bench --json > figures.jsonl; bun tests/bench/document.ts figures.jsonl`.
 */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { type Figure, figure, tableByName, tableOf } from './report.ts';
import { rolesTablesOf } from './roles-figures.ts';
import { rowsTableOf } from './rows.ts';

const DOCS = join(resolve(import.meta.dir, '../..'), 'docs');

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
  if (from === -1 || to === -1) throw new Error(`there is no place for ${name}`);
  return text.slice(0, from + begin.length) + narrow(table) + text.slice(to);
}

/** Columns as wide as each cell: the lines of a document have a limit. */
const narrow = (table: string): string => table.replace(/ {2,}\|/g, ' |').replace(/-{4,}/g, '---');

/** @param tables by the names of their places */
async function write(document: string, tables: Readonly<Record<string, string>>): Promise<void> {
  const path = join(DOCS, document);
  let text = await Bun.file(path).text();
  for (const [name, table] of Object.entries(tables)) text = between(text, name, table);
  await Bun.write(path, text);
}

const [path = ''] = process.argv.slice(2);
const lines = (await Bun.file(path).text()).split('\n').filter((line) => line.startsWith('{'));
const figures = lines.map((line) => figureSchema.parse(JSON.parse(line)));
const has = (name: string): boolean => figures.some((one) => one.name === name);
if (has('rows.large')) await write('capacity.md', { rows: rowsTableOf(figures) });
else if (has('executions.lost')) await write('capacity.md', rolesTablesOf(figures));
else {
  const reads = figures.filter((one) => !isOther(one));
  await write('performance.md', {
    reads: tableByName([...reads, ...reads.flatMap(aloneOf)], 'read', READ_COLUMNS),
    others: tableOf(figures.filter((one) => isOther(one) && isShown(one))),
  });
}
