/**
 * Preloaded into a process, shifts its clock by the milliseconds that the file named by CLOCK_SHIFT_FILE holds at that
 * moment, for the process and all of its libraries. Monotonic time continues evenly, as it does when a clock is set.
 */
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_SHIFT_FILE ?? '';
const RealDate = Date;
let shiftMs = 0;
const read = (): void => {
  shiftMs = Number(readFileSync(file, 'utf8'));
};
read();
setInterval(read, 50).unref();

const now = (): number => RealDate.now() + shiftMs;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args: unknown[]) => Reflect.construct(target, args.length === 0 ? [now()] : args),
  apply: () => new RealDate(now()).toString(),
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
});
