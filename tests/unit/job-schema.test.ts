import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020';
import { compress, unpack } from '../../src/queue/encoding.ts';
import { TEST_RUNS_SCHEMA_FILE, testRunsJsonSchema } from '../../src/queue/json-schema.ts';
import { testRunsSchema } from '../../src/queue/test-runs.ts';
import { makeJob } from '../support/jobs.ts';

const job = makeJob({
  repository: { owner: 'acme', name: 'shop' },
  receivedAt: 0,
  executions: [{ name: 'a', status: 'failed' }],
});

describe('the test-runs payload', () => {
  test('the JSON Schema in docs is the one the consumer checks by', () => {
    expect(readFileSync(TEST_RUNS_SCHEMA_FILE, 'utf8')).toBe(testRunsJsonSchema());
  });

  test('a job, plain or compressed, fits the JSON Schema', () => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(testRunsJsonSchema()));
    expect(validate(job)).toBe(true);
    expect(validate(compress(job))).toBe(true);
    expect(validate({ ...job, v: 2 })).toBe(false);
  });

  test('a compressed job unpacks to the plain one', () => {
    expect(unpack(compress(job)).payload).toEqual(JSON.parse(JSON.stringify(job)));
    expect(unpack(job).payload).toBe(job);
  });

  test('a small compressed job cannot become a large allocation', () => {
    const bomb = compress('x'.repeat(80 * 1024 * 1024));
    expect(bomb.b.length).toBeLessThan(100_000);
    expect(() => unpack(bomb)).toThrow();
  });

  test.each([
    ['arrays of different lengths', { ...job, executions: { ...job.executions, key: [] } }],
    [
      'an index beyond its array',
      {
        ...job,
        failures: { ...job.failures, execution: [7], attempt: [1], type: [null], message: [null], stacktrace: [null] },
      },
    ],
    ['a source that is not there', { ...job, executions: { ...job.executions, source: [1] } }],
    ['another version', { ...job, v: 2 }],
  ])('%s is refused', (_, bad) => {
    expect(testRunsSchema.safeParse(bad).success).toBe(false);
  });
});
