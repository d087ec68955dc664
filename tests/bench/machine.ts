/** The load of the machine beside a benchmark. */
import { readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { type Figure, figure } from './report.ts';

/** Ticks since the machine was started: all of its processors together. */
interface Ticks {
  all: number;
  /** Something was to be done, and the host of the machine did something else. */
  stolen: number;
}

/** The place of stolen time among the times of /proc/stat. */
const STOLEN = 7;
/** With more, a run says nothing about the service. */
const STOLEN_PERCENT_MAX = 5;

/** Null where it is not known. */
function ticks(): Ticks | null {
  try {
    const [, ...times] = /^cpu .*$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[0].split(/\s+/) ?? [];
    // The last two are parts of the first two.
    const each = times.slice(0, STOLEN + 1).map(Number);
    return { all: each.reduce((sum, one) => sum + one, 0), stolen: each[STOLEN] ?? 0 };
  } catch {
    return null;
  }
}

/** Watches how much of the processors the host of a virtual machine takes: figures of such minutes are not the service's. */
export class Machine {
  readonly #first = ticks();
  #last = this.#first;

  /** The load, and the share of the processors that was stolen since the last call. */
  described(): string {
    const stolen = this.#stolenSince(this.#last);
    this.#last = ticks();
    const load = `load ${loadavg()[0]?.toFixed(1)}`;
    return stolen === undefined ? load : `${load}, ${Math.round(stolen * 100)} % stolen since`;
  }

  /** Figures of the whole time. */
  figures(): Figure[] {
    const stolen = this.#stolenSince(this.#first);
    return stolen === undefined ? [] : [figure('machine.stolen', stolen * 100, '%', { atMost: STOLEN_PERCENT_MAX })];
  }

  #stolenSince(before: Ticks | null): number | undefined {
    const now = ticks();
    if (!now || !before || now.all === before.all) return undefined;
    return (now.stolen - before.stolen) / (now.all - before.all);
  }
}

/** Says on standard error what a benchmark does, after how many seconds, and what the machine did meanwhile. */
export function narrator(): (what: string) => void {
  const machine = new Machine();
  const started = performance.now();
  return (what) => {
    const seconds = ((performance.now() - started) / 1_000).toFixed(0).padStart(5);
    process.stderr.write(`${seconds} s  ${what} (${machine.described()})\n`);
  };
}
