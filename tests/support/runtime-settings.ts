/**
 * Preloaded into the service: once its environment has the settings of the runtime, prints them and how many threads the
 * runtime then uses, and ends.
 */
import { pbkdf2 } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const THREAD = /^Bun Pool/;
const TASKS = 40;
const WAIT_MS_MAX = 10_000;

const { UV_THREADPOOL_SIZE, BUN_JSC_forceRAMSize, GIVEN: given } = process.env;
const size = Number(UV_THREADPOOL_SIZE);
if (size > 0 && BUN_JSC_forceRAMSize) {
  for (let i = 0; i < TASKS; i++) pbkdf2('a', 'b', 1_000_000, 64, 'sha512', () => {});
  const count = (): number =>
    readdirSync('/proc/self/task').filter((task) => THREAD.test(readFileSync(`/proc/self/task/${task}/comm`, 'utf8')))
      .length;
  // They begin one after another.
  for (const until = performance.now() + WAIT_MS_MAX; count() < size && performance.now() < until; )
    await Bun.sleep(20);
  await Bun.sleep(100);
  const plannedBytes = Number(BUN_JSC_forceRAMSize);
  process.stdout.write(JSON.stringify({ pid: process.pid, threads: count(), plannedBytes, given }));
  process.exit();
}
