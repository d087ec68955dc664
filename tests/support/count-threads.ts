/**
 * Preloaded into the service: once its environment says how many threads the runtime may have, prints how many it then
 * uses, and ends.
 */
import { pbkdf2 } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';

const THREAD = /^Bun Pool/;
const TASKS = 40;

if (process.env.UV_THREADPOOL_SIZE) {
  for (let i = 0; i < TASKS; i++) pbkdf2('a', 'b', 1_000_000, 64, 'sha512', () => {});
  await Bun.sleep(200);
  const threads = readdirSync('/proc/self/task').filter((task) =>
    THREAD.test(readFileSync(`/proc/self/task/${task}/comm`, 'utf8')),
  ).length;
  process.stdout.write(JSON.stringify({ pid: process.pid, threads, given: process.env.GIVEN }));
  process.exit();
}
