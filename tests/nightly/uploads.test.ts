import { afterAll, beforeAll, test } from 'bun:test';
import { TEST_NOW } from '../support/clock.ts';
import { Uploads } from '../support/gateway.ts';
import { largeRunIsExact } from '../support/large-run.ts';

let uploads: Uploads;
beforeAll(async () => {
  uploads = await Uploads.open();
  uploads.app.stores.clock.set(TEST_NOW);
});
afterAll(() => uploads.close());

test('a run of 50,000 tests in 20 jobs is exact', () => largeRunIsExact(uploads, { jobs: 20, testsPerJob: 2_500 }));
