/** Runs before every test file: one seed for all random tests of the run, printed so that it can be run again. */
import { afterAll } from 'bun:test';
import fc from 'fast-check';
import { closeAll } from './at-end.ts';
import { closeTestStores } from './stores.ts';

const seed = Number(process.env.TEST_SEED ?? Date.now() % 1_000_000_007);
fc.configureGlobal({ seed });
console.error(`seed ${seed} (TEST_SEED=${seed} runs the same again)`);

afterAll(async () => {
  await closeAll();
  await closeTestStores();
});
