/** The scales of a chart: where its axes have marks, and which bar is at a place. */

/** Steps of an axis, times a power of ten. */
const STEPS = [1, 2, 5, 10];
/** Room for the names of so many steps below a chart. */
const TICKS_MAX = 6;

/**
 * Marks of an axis from 0 to at least `most`, at round distances.
 *
 * @param isWhole what is counted has no halves
 * @param marksMax how many there may be above 0
 */
export function marksUpTo(most: number, isWhole: boolean, marksMax: number): number[] {
  if (!(most > 0)) return isWhole ? [0, 1] : [0];
  const power = 10 ** Math.floor(Math.log10(most));
  const sizes = [power / 10, power].flatMap((unit) => STEPS.map((step) => step * unit));
  const size = sizes.find((one) => (!isWhole || one >= 1) && one * marksMax >= most) ?? power * 10;
  return Array.from({ length: Math.max(1, Math.ceil(most / size - 1e-9)) + 1 }, (_, i) => i * size);
}

/** Which of `count` steps are named below a chart: the first, and others at one distance. */
export function namedSteps(count: number): number[] {
  const distance = Math.max(1, Math.ceil(count / TICKS_MAX));
  return Array.from({ length: Math.ceil(count / distance) }, (_, i) => i * distance);
}

/** Where each of some steps ends, as a share of the width: ascending, the last one 1. */
export function endsOf(sizes: readonly number[]): number[] {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  let end = 0;
  return sizes.map((size, i) => {
    end += size;
    return i === sizes.length - 1 ? 1 : end / total;
  });
}

/** The step at a share of the width; outside, the first or the last. */
export function stepAt(ends: readonly number[], share: number): number {
  const found = ends.findIndex((end) => share < end);
  return found === -1 ? ends.length - 1 : found;
}
