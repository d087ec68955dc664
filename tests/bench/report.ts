/** A figure of a benchmark: a name, a value, what it is compared with, and its goal. */

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** What it is compared with, measured in the same run; null if the goal is an absolute value. */
  floor: number | null;
  /** value ÷ floor. */
  ratio: number | null;
  /** The goal of the ratio, or of the value if there is no floor. docs/performance.md lists them. */
  goal: string;
  reached: boolean;
}

export interface Goal {
  atMost?: number;
  atLeast?: number;
}

export function figure(name: string, value: number, unit: string, floor: number | null, goal: Goal): Figure {
  const ratio = floor === null ? null : value / floor;
  const held = ratio ?? value;
  const reached =
    (goal.atMost === undefined || held <= goal.atMost) && (goal.atLeast === undefined || held >= goal.atLeast);
  const text = goal.atMost !== undefined ? `≤ ${goal.atMost}` : goal.atLeast !== undefined ? `≥ ${goal.atLeast}` : '';
  return {
    name,
    value: rounded(value),
    unit,
    floor: floor === null ? null : rounded(floor),
    ratio: ratio === null ? null : rounded(ratio),
    goal: text,
    reached,
  };
}

export function print(figures: readonly Figure[], asJson: boolean): void {
  if (!asJson) {
    const rows = figures.map((one) => [
      one.name,
      `${one.value} ${one.unit}`,
      one.floor === null ? '' : String(one.floor),
      one.ratio === null ? '' : String(one.ratio),
      one.goal,
      one.reached ? 'yes' : 'NO',
    ]);
    const head = ['name', 'value', 'floor', 'ratio', 'goal', 'reached'];
    const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
    for (const row of [head, ...rows])
      process.stdout.write(
        `${row
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
      );
  }
  for (const { name, value, unit, floor, ratio } of figures)
    process.stdout.write(`${JSON.stringify({ name, value, unit, floor, ratio })}\n`);
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

const rounded = (value: number): number => Number(value.toPrecision(4));
