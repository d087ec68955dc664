/** Figures of a benchmark and their report: a table that documents can take over, and JSON lines. */

export interface Goal {
  atMost?: number;
  atLeast?: number;
}

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** The same from PostgreSQL alone; null where there is nothing to compare with. */
  postgres: number | null;
  /** The same bytes from a route that does nothing else. */
  bare: number | null;
  goal: string;
  /** Null without a goal. */
  reached: boolean | null;
}

export function figure(name: string, value: number, unit: string, goal: Goal = {}): Figure {
  const { atMost, atLeast } = goal;
  const hasGoal = atMost !== undefined || atLeast !== undefined;
  const isReached = (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast);
  return {
    name,
    value: rounded(value),
    unit,
    postgres: null,
    bare: null,
    goal: atMost !== undefined ? `≤ ${atMost}` : atLeast !== undefined ? `≥ ${atLeast}` : '',
    reached: hasGoal ? isReached : null,
  };
}

/** Floors of figures by their names. */
export type Floors = ReadonlyMap<string, Partial<Record<'postgres' | 'bare', number>>>;

export const withFloors = (figures: readonly Figure[], floors: Floors): Figure[] =>
  figures.map((one) => {
    const { postgres, bare } = floors.get(one.name) ?? {};
    return {
      ...one,
      postgres: postgres === undefined ? null : rounded(postgres),
      bare: bare === undefined ? null : rounded(bare),
    };
  });

const HEAD = ['figure', 'value', 'PostgreSQL alone', 'bare route', 'goal', 'reached'];

const cellsOf = ({ name, value, unit, postgres, bare, goal, reached }: Figure): string[] => [
  `\`${name}\``,
  `${value} ${unit}`.trim(),
  postgres === null ? '' : String(postgres),
  bare === null ? '' : String(bare),
  goal,
  reached === null ? '' : reached ? 'yes' : '**no**',
];

/** As Markdown, with columns in line. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

export const tableOf = (figures: readonly Figure[]): string => markdown(HEAD, figures.map(cellsOf));

/** Every read on one line, as docs/performance.md shows them. */
export function readsTableOf(figures: readonly Figure[]): string {
  const cells = new Map(figures.map(({ name, value, unit }) => [name, `${value} ${unit}`]));
  const reads = [...new Set(figures.flatMap(({ name }) => /^(\w+)\.(?:64_connections|median)$/.exec(name)?.[1] ?? []))];
  const rows = reads.map((read) => [
    `\`${read}\``,
    ...['64_connections', 'median', 'p99'].map((what) => cells.get(`${read}.${what}`) ?? ''),
  ]);
  return markdown(['read', '64 connections', 'one client: median', '99th percentile'], rows);
}

/** The same figures at several sizes, and how the last compares with the one before. */
export function growthTableOf(runs: ReadonlyMap<number, readonly Figure[]>): string {
  const sizes = [...runs.keys()];
  const names = [...new Set([...runs.values()].flat().map(({ name }) => name))];
  const rows = names.map((name) => {
    const found = [...runs.values()].map((figures) => figures.find((one) => one.name === name));
    const [before, last] = found.slice(-2);
    const times = before && last ? String(rounded(last.value / before.value)) : '';
    return [`\`${name}\``, ...found.map((one) => (one ? `${one.value} ${one.unit}`.trim() : '')), times];
  });
  return markdown(['figure', ...sizes.map((size) => size.toLocaleString('en')), 'last ÷ before'], rows);
}

export const linesOf = (figures: readonly Figure[]): string => figures.map((one) => JSON.stringify(one)).join('\n');

const rounded = (value: number): number => Number(value.toPrecision(4));
