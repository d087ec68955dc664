/** Scores as a table, as docs/judgement-quality.md shows them. */
import type { Share } from './calibration.ts';
import type { Scores } from './score.ts';

const percent = ({ right, of }: Share, digits = 0): string =>
  of === 0 ? '-' : `${((100 * right) / of).toFixed(digits)} %`;
const median = (values: readonly number[]): string => {
  const value = [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
  if (value === undefined) return '-';
  return value === Number.POSITIVE_INFINITY ? 'never' : value.toFixed(1);
};

const COLUMNS: readonly (readonly [string, (scores: Scores) => string])[] = [
  ['flaky: precision', ({ flakyPrecision }) => `${percent(flakyPrecision)} of ${flakyPrecision.of}`],
  ['recall at ≥ 5 %', ({ flakyRecall }) => `${percent(flakyRecall)} of ${flakyRecall.of}`],
  ['broken: precision', ({ brokenPrecision }) => percent(brokenPrecision)],
  ['recall', ({ brokenRecall }) => percent(brokenRecall)],
  ['quarantines', ({ falseQuarantines }) => String(falseQuarantines.of)],
  ['of fine', ({ falseQuarantines }) => percent(falseQuarantines, 1)],
  ['of broken', ({ brokenQuarantines }) => percent(brokenQuarantines, 1)],
  ['wrong recoveries', ({ wrongRecoveries: { right, of } }) => (of === 0 ? '-' : (right / of).toFixed(2))],
  ['wrong marks', ({ wrongMarks }) => `${percent(wrongMarks)} of ${wrongMarks.of}`],
  ['days to know 1 %', ({ daysToKnow }) => `${median(daysToKnow)} of ${daysToKnow.length}`],
  ['CPU s', ({ seconds }) => seconds.toFixed(1)],
];

/** One row for each set of rules. */
export function describeScores(title: string, rows: ReadonlyMap<string, Scores>): string {
  const executions = [...rows.values()][0]?.executions ?? 0;
  const cells = [
    ['', ...COLUMNS.map(([name]) => name)],
    ...[...rows].map(([name, scores]) => [name, ...COLUMNS.map(([, cell]) => cell(scores))]),
  ];
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string =>
    `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = cells;
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`;
  return [`${title} (${executions} executions)`, '', line(head), rule, ...body.map(line), ''].join('\n');
}
