/** Metadata of a producer's event is in the log: whole, within limits, whether this version knows it or not. */
import { expect, test } from 'bun:test';
import { EVENT_TYPES, type EventType } from '../../src/domain/events.ts';
import { METADATA_BYTES_MAX, METADATA_DEPTH_MAX } from '../../src/domain/limits.ts';
import { compress } from '../../src/queue/encoding.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { followPages, labelled, logOf, makeEventsJob, type ShownEvent } from '../support/events.ts';
import { setUpApp } from '../support/ingest.ts';
import { PUBLIC_METADATA } from '../support/public-events.ts';
import { uniqueRepository } from '../support/stores.ts';

const service = setUpApp();

let jobs = 0;

/** Sends events as a client of the queue would, and reads the log. Oldest first. */
async function logged(events: { type: string; metadata: unknown }[]): Promise<ShownEvent[]> {
  const repository = uniqueRepository();
  const job = makeEventsJob(
    repository,
    events.map(({ type }, i) => labelled(`event ${i}`, { type, metadata: { place: i } })),
  );
  // Metadata goes in as text: it may hold what an object literal cannot.
  const raw = events.reduce(
    (text, { metadata }, i) => text.replace(`{"place":${i}}`, () => JSON.stringify(metadata)),
    JSON.stringify(job),
  );
  await service.stores.producers.of(prEvents).addAgain(`metadata-${++jobs}`, compress(JSON.parse(raw)));
  await service.driver.settle();
  service.stores.clock.at += 1;
  return (await followPages(service.app, logOf(repository, '?per_page=100'), 'next')).flat().reverse();
}

/** Why the job that was sent last went to the dead letters. */
const lastReason = async (): Promise<string> =>
  (await service.stores.deadLetters.list()).find(({ jobId }) => jobId === `metadata-${jobs}`)?.reason ?? '';

test('an event of every type comes back whole in the shape of the public interface', async () => {
  const shown = await logged(EVENT_TYPES.map((type) => ({ type, metadata: PUBLIC_METADATA[type] })));
  expect(shown.map(({ type }) => type)).toEqual([...EVENT_TYPES]);
  for (const { type, metadata } of shown) expect(metadata).toMatchObject(PUBLIC_METADATA[type as EventType]);
});

test('fields that this version does not know come back whole, on every level', async () => {
  const sent = EVENT_TYPES.map((type) => ({
    type,
    metadata: {
      ...PUBLIC_METADATA[type],
      colour: 'red',
      nested: { deep: [{ er: [1, null, 'x'] }], 'lone \ud83d': '\ud83d\u0000' },
      constructor: 'no',
      toString: null,
    },
  }));
  const pause = { created_by: { type: 'user', id: 1, name: 'octocat', avatar: { url: 'u' } } };
  const shown = await logged([...sent, { type: 'queue.pause.create', metadata: pause }]);
  expect(shown).toHaveLength(EVENT_TYPES.length + 1);
  for (const [i, { metadata }] of sent.entries()) {
    const { colour, nested, constructor: built, toString: text } = shown[i]?.metadata ?? {};
    expect({ colour, nested, built, text } as unknown).toEqual({
      colour: 'red',
      nested: metadata.nested,
      built: 'no',
      text: null,
    });
  }
  expect(shown.at(-1)?.metadata).toMatchObject(pause);
});

test('a key `__proto__` changes no object: it is dropped beside known fields and kept as data below unknown ones', async () => {
  const hostile = JSON.parse(
    '{"added":["a"],"__proto__":{"polluted":1,"rule":"forged"},"free":{"__proto__":{"polluted":1},"kept":1}}',
  );
  const [event] = await logged([{ type: 'action.label', metadata: hostile }]);
  expect(event?.metadata.rule).toBeNull();
  expect(Object.hasOwn(event?.metadata ?? {}, '__proto__')).toBe(false);
  expect(JSON.stringify(event?.metadata.free)).toBe('{"__proto__":{"polluted":1},"kept":1}');
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test.each([
  ['action.vcs_actions', '{"inputs":{"kept":1,"__proto__":"x"}}'],
  ['test.quarantined', `{"axes":{"os":["linux"],"__proto__":["x"]}}`],
] as const)('a key `__proto__` among names of the source in %s is refused with a reason', async (type, text) => {
  const metadata = { ...PUBLIC_METADATA[type], ...JSON.parse(text) };
  expect(await logged([{ type, metadata }])).toEqual([]);
  expect(await lastReason()).toContain('holds the name "__proto__"');
});

const nested = (levels: number): unknown => (levels === 0 ? 'end' : { down: nested(levels - 1) });

test('metadata beyond its limits is a dead letter with the limit in its reason, and what is within is kept', async () => {
  const deepest = nested(METADATA_DEPTH_MAX) as Record<string, unknown>;
  const envelope = JSON.stringify({ filler: '' }).length;
  const largest = { filler: 'x'.repeat(METADATA_BYTES_MAX - envelope) };
  const within = await logged([
    { type: 'action.refresh', metadata: deepest },
    { type: 'action.refresh', metadata: largest },
  ]);
  expect(within.map(({ metadata }) => metadata)).toEqual([
    { ...deepest, rule: null },
    { ...largest, rule: null },
  ]);

  expect(await logged([{ type: 'action.refresh', metadata: nested(METADATA_DEPTH_MAX + 1) }])).toEqual([]);
  expect(await lastReason()).toContain(`nested deeper than ${METADATA_DEPTH_MAX} levels`);
  expect(await logged([{ type: 'action.refresh', metadata: { filler: `${largest.filler}x` } }])).toEqual([]);
  expect(await lastReason()).toContain(`at most ${METADATA_BYTES_MAX} are kept`);
});

test('a hundred thousand levels are a dead letter, not a job that is tried for a day', async () => {
  const repository = uniqueRepository();
  const job = JSON.stringify(makeEventsJob(repository, [labelled('deep', { metadata: {} })]));
  const deep = `{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  const data = job.replace('"metadata":{}', `"metadata":${deep}`);
  await service.stores.producers.of(prEvents).addAgain(`metadata-${++jobs}`, {
    v: 1,
    enc: 'zstd',
    b: Buffer.from(Bun.zstdCompressSync(data)).toString('base64'),
  });
  await service.driver.settle();
  expect(await lastReason()).toContain('nested deeper');
});
