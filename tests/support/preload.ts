/** Runs before the tests: sets the time limit of every file and a seed for random tests, and closes in the end what was opened. */
import { afterAll } from 'bun:test';
import { plugin } from 'bun';
import fc from 'fast-check';
import { closeAll } from './at-end.ts';
import { closeTestStores } from './stores.ts';

/** Longer than any wait in a test (patience.ts). */
const TIME_LIMIT_MS = 600_000;

// Bun applies a preload's `setDefaultTimeout` to the first file only, and has no setting for it in bunfig.toml. So each
// test file is loaded with that call at the start of its first line, which moves no line number.
plugin({
  name: 'time limit',
  setup(build) {
    build.onLoad({ filter: /\.test\.ts$/ }, async ({ path }) => ({
      contents: `import { setDefaultTimeout as limitTime } from 'bun:test'; limitTime(${TIME_LIMIT_MS}); ${await Bun.file(path).text()}`,
      loader: 'ts',
    }));
  },
});

const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000_007);
// A property that fails is shrunk until then, and ends before its time limit: what ran on would disturb the tests after it.
fc.configureGlobal({ seed, interruptAfterTimeLimit: TIME_LIMIT_MS - 30_000, markInterruptAsFailure: true });
console.error(`seed ${seed} (TEST_SEED=${seed} repeats this run)`);

afterAll(async () => {
  await closeAll();
  await closeTestStores();
}, TIME_LIMIT_MS);
