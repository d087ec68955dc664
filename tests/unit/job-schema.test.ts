import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import Ajv2020 from 'ajv/dist/2020';
import { EVENT_TYPES } from '../../src/domain/events.ts';
import { compress, unpack } from '../../src/queue/encoding.ts';
import { jobJsonSchema, jsonSchemaFile } from '../../src/queue/json-schema.ts';
import { publicJobKinds } from '../../src/queue/kinds.ts';
import { prEvents, prEventsSchema, readEvent } from '../../src/queue/pr-events.ts';
import { testRuns, testRunsSchema } from '../../src/queue/test-runs.ts';
import { makeJob } from '../support/jobs.ts';

const job = makeJob({
  repository: { owner: 'acme', name: 'shop' },
  receivedAt: 0,
  executions: [{ name: 'a', status: 'failed' }],
});

test.each(publicJobKinds.map((kind) => [kind.name, kind] as const))(
  'the JSON Schema of %s in docs is up to date',
  (_, kind) => {
    expect(readFileSync(jsonSchemaFile(kind), 'utf8')).toBe(jobJsonSchema(kind));
  },
);

describe('the test-runs payload', () => {
  test('a job, plain or compressed, fits the JSON Schema', () => {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(
      JSON.parse(jobJsonSchema(testRuns)),
    );
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

describe('the pr-events payload', () => {
  const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(JSON.parse(jobJsonSchema(prEvents)));
  const job = (...events: object[]) => ({ v: 1, repository: { owner: 'acme', name: 'shop' }, events });
  const label = {
    key: 'label-1',
    type: 'action.label',
    trigger: '@octocat',
    pull_request: 7,
    metadata: { added: ['bug'] },
  };

  test('a job, plain or compressed, fits the JSON Schema', () => {
    expect(validate(job(label))).toBe(true);
    expect(validate(compress(job(label)))).toBe(true);
    expect(validate({ ...job(label), v: 2 })).toBe(false);
  });

  test('an event fits the JSON Schema exactly if the consumer accepts it, whatever its type', () => {
    const events = [
      ...EVENT_TYPES.map((type) => ({ ...label, type, metadata: {} })),
      ...EVENT_TYPES.map((type) => ({ ...label, type, metadata: { added: 'bug', queue_name: 7, reason: 7 } })),
      { ...label, type: 'action.unknown' },
      label,
    ];
    for (const event of events) {
      const [read] = prEventsSchema.parse(job(event)).events;
      if (!read) throw new Error('the event is gone');
      expect([event.type, event.metadata, validate(job(event))]).toEqual([
        event.type,
        event.metadata,
        'event' in readEvent(read),
      ]);
    }
  });
});
