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

/** A table in Markdown, with columns in line. */
function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [line(head), rule, ...rows.map(line)].join('\n');
}

/** Without the columns that are empty in every row. */
export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map(cellsOf);
  const shown = HEAD.flatMap((_, column) => (rows.some((cells) => cells[column] !== '') ? [column] : []));
  const pick = (cells: readonly string[]): string[] => shown.map((column) => cells[column] ?? '');
  return markdown(pick(HEAD), rows.map(pick));
}

/** Every read on one line, as docs/performance.md shows them. */
export const readsTableOf = (figures: readonly Figure[]): string =>
  tableByName(figures, 'read', {
    '64_connections': '64 connections',
    median: 'one client: median',
    p99: '99th percentile',
  });

/**
 * Figures that are called `<name>.<what>`: a row for each name, a column for each of these.
 *
 * @param columns what each column is called
 */
export function tableByName(figures: readonly Figure[], title: string, columns: Record<string, string>): string {
  const rows = new Map<string, Map<string, Figure>>();
  for (const one of figures) {
    const [name = '', what = ''] = one.name.split('.');
    if (what in columns) rows.set(name, (rows.get(name) ?? new Map()).set(what, one));
  }
  const cell = (one: Figure | undefined): string => {
    const text = one ? `${one.value} ${one.unit}`.trim() : '';
    return one?.reached === false ? `**${text}**` : text;
  };
  return markdown(
    [title, ...Object.values(columns)],
    [...rows].map(([name, cells]) => [`\`${name}\``, ...Object.keys(columns).map((what) => cell(cells.get(what)))]),
  );
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
