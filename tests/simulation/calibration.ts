/** Whether claims hold as often as their probability says: of all that was said at 90 %, 90 % should. */
import type { Health } from '../../src/domain/status.ts';

export interface Share {
  right: number;
  of: number;
}

/** Claims are counted by their probability, from each of these to the next. */
const FROM = [0, 0.5, 0.8, 0.9, 0.95, 0.99] as const;
const SURE_FROM = 0.9;

/** How often something was said, by its probability, and how often it held. */
export type Calibration = Readonly<Record<Health, readonly Share[]>>;

const noShares = (): Share[] => FROM.map(() => ({ right: 0, of: 0 }));
export const noCalibration = (): Calibration => ({ healthy: noShares(), flaky: noShares(), broken: noShares() });

export function addClaim(calibration: Calibration, said: Health, probability: number, holds: boolean): void {
  const share = calibration[said][FROM.findLastIndex((from) => probability >= from)];
  if (!share) return;
  share.of++;
  if (holds) share.right++;
}

export function addCalibrations(one: Calibration, other: Calibration): Calibration {
  const sum = (said: Health): Share[] =>
    one[said].map(({ right, of }, i) => ({
      right: right + (other[said][i]?.right ?? 0),
      of: of + (other[said][i]?.of ?? 0),
    }));
  return { healthy: sum('healthy'), flaky: sum('flaky'), broken: sum('broken') };
}

/** Whether anything was said with a probability. */
export const hasClaims = (calibration: Calibration): boolean =>
  Object.values(calibration).some((shares) => shares.some(({ of }) => of > 0));

/** All claims of at least 90 %. */
const sureOf = (shares: readonly Share[]): Share =>
  shares
    .filter((_, i) => (FROM[i] ?? 0) >= SURE_FROM)
    .reduce((all, { right, of }) => ({ right: all.right + right, of: all.of + of }), { right: 0, of: 0 });

/** A table: one row for each health, one column for each range of probabilities. */
export function describeCalibration(calibration: Calibration): string {
  const cell = ({ right, of }: Share): string => (of === 0 ? '-' : `${((100 * right) / of).toFixed(1)} % of ${of}`);
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const range = (from: number, i: number): string =>
    `${Math.round(100 * from)}–${Math.round(100 * (FROM[i + 1] ?? 1))} %`;
  return [
    row(['said', ...FROM.map(range), `all from ${Math.round(100 * SURE_FROM)} %`]),
    `|${'---|'.repeat(FROM.length + 2)}`,
    ...(['flaky', 'broken', 'healthy'] as const).map((said) =>
      row([said, ...calibration[said].map(cell), cell(sureOf(calibration[said]))]),
    ),
    '',
  ].join('\n');
}
