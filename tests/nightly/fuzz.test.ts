/**
 * 100,000 mutations of real input, to every parser: each is taken or refused with a sentence, within 100 ms, without
 * growth of memory, and what is taken makes jobs that a worker can store. That this finds faults is shown beside it, in
 * `fuzz-faults.test.ts`.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { mountIngest } from '../../src/ingest/routes.ts';
import { fuzz } from '../support/fuzz.ts';
import { fuzzTargets, UPLOAD_PATHS } from '../support/fuzz-targets.ts';
import { openTestApp, type TestApp } from '../support/http.ts';
import { mutated } from '../support/mutations.ts';
import { randomFrom } from '../support/random.ts';

const seed = fc.readConfigureGlobal().seed ?? 1;

describe('every mutation is taken or refused with a sentence, soon, and what is taken can be stored', async () => {
  for (const target of await fuzzTargets()) test(`${target.name}: ${target.cases} cases`, () => fuzz(target, seed));
});

describe('over HTTP', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp({
      features: [
        (elysia, http) =>
          mountIngest(elysia, http, {
            clock: http.clock,
            log: http.log,
            enqueue: async () => {},
            receipt: async () => null,
          }),
      ],
    });
  });

  test('2,000 uploads are answered with 200, 202, 413 or 422', async () => {
    const random = randomFrom(seed);
    const uploads = await fuzzTargets();
    for (let i = 0; i < 2_000; i++) {
      const which = i % UPLOAD_PATHS.length;
      const [path, type] = UPLOAD_PATHS[which] as [string, string];
      const samples = uploads[which]?.samples ?? [];
      const body = mutated(samples[i % samples.length] as Buffer, random, samples);
      const response = await app.request(`/v1/ci/acme/repositories/shop/${path}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: new Uint8Array(body),
      });
      await response.arrayBuffer();
      expect([200, 202, 413, 422]).toContain(response.status);
    }
  });

  test('3,000 queries of reads are answered with 200, 404 or 422', async () => {
    const random = randomFrom(seed);
    const samples = [
      'search/tests?test_name=a*&sort=test_name&direction=asc&per_page=10&pipeline_name=CI&cursor=WzEsIm4iLG51bGxd',
      'quarantines?branch=main&per_page=5&source=manual&test_id=01980f3e-5c1e-5b1c-8f5d-1f2e3d4c5b6a&cursor=x',
      'tests/01980f3e-5c1e-5b1c-8f5d-1f2e3d4c5b6a/stats/mean_duration?start=2026-11-20T00:00:00Z&end=2026-11-21T00:00:00Z',
      'tests/01980f3e-5c1e-5b1c-8f5d-1f2e3d4c5b6a/executions?sort=job_name&per_page=100&cursor=WzFd',
    ].map((one) => Buffer.from(one));
    for (let i = 0; i < 3_000; i++) {
      const sample = samples[i % samples.length] as Buffer;
      const at = sample.indexOf('?') + 1;
      const query = mutated(sample.subarray(at), random, samples)
        .toString('latin1')
        .replace(/[^!-~]|#/g, '%C3');
      const response = await app.request(`/v1/ci/acme/repositories/shop/${sample.subarray(0, at)}${query}`);
      await response.arrayBuffer();
      expect([200, 404, 422]).toContain(response.status);
    }
  });
});
