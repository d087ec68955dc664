/** How small uploads that arrive together come to share a queue job. */
import { describe, expect, test } from 'bun:test';
import { UploadBundles } from '../../src/ingest/bundles.ts';
import { unpack } from '../../src/queue/encoding.ts';
import type { PackedJob } from '../../src/queue/producer.ts';
import { bundleOf, uploadBundleSchema } from '../../src/queue/upload-bundles.ts';

const jobOf = (uploadId: string, json = JSON.stringify({ uploadId })) => ({ id: `${uploadId}-0`, json });

function setUp(enqueue?: () => Promise<void>) {
  const sent: PackedJob[] = [];
  const bundles = new UploadBundles(async (job) => {
    sent.push(job);
    await enqueue?.();
  });
  /** The ids of the uploads in each job that was sent. */
  const ids = () => sent.map(({ data }) => uploadBundleSchema.parse(unpack(data).payload).uploads.map(({ id }) => id));
  return { bundles, sent, ids };
}

describe('an upload that is alone', () => {
  test('is sent alone, and at once', async () => {
    const { bundles, sent } = setUp();
    const place = bundles.enter();
    const startedAt = performance.now();
    expect(await place.put(jobOf(place.uploadId))).toBe(false);
    expect(performance.now() - startedAt).toBeLessThan(20);
    expect(sent).toEqual([]);
  });

  test('is alone when those beside it turn out to be large or wrong', async () => {
    const { bundles, sent } = setUp();
    const [large, wrong, small] = [bundles.enter(), bundles.enter(), bundles.enter()];
    const put = small.put(jobOf(small.uploadId));
    large.leave();
    wrong.leave();
    wrong.leave();
    expect(await put).toBe(false);
    expect(sent).toEqual([]);
  });
});

describe('uploads that arrive together', () => {
  test('are one job as soon as the last of them is parsed, and each is told when the queue holds it', async () => {
    const held = Promise.withResolvers<void>();
    const { bundles, ids, sent } = setUp(() => held.promise);
    const places = Array.from({ length: 5 }, () => bundles.enter());
    let told = 0;
    const puts = places.map(async (place) => {
      const isJoined = await place.put(jobOf(place.uploadId));
      told++;
      return isJoined;
    });
    await Bun.sleep(10);
    expect(ids()).toEqual([places.map(({ uploadId }) => `${uploadId}-0`)]);
    expect(told).toBe(0);
    held.resolve();
    expect(await Promise.all(puts)).toEqual(places.map(() => true));
    expect(sent.map(({ id }) => id)).toEqual([...new Set(places.map(({ uploadId }) => bundleOf(uploadId)))]);
  });

  test('have different ids, which are UUIDs, however many they are', () => {
    const { bundles } = setUp();
    const ids = Array.from({ length: 1_000 }, () => bundles.enter().uploadId);
    expect(new Set(ids).size).toBe(1_000);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('wait for a slow one no longer than a moment; it goes alone, and nothing is sent twice', async () => {
    const { bundles, ids } = setUp();
    const [first, second, slow] = [bundles.enter(), bundles.enter(), bundles.enter()];
    const puts = [first, second].map((place) => place.put(jobOf(place.uploadId)));
    expect(await Promise.all(puts)).toEqual([true, true]);
    expect(await slow.put(jobOf(slow.uploadId))).toBe(false);
    expect(ids()).toEqual([[first, second].map(({ uploadId }) => `${uploadId}-0`)]);
  });

  test('are sent before they are large together', async () => {
    const { bundles, ids } = setUp();
    const places = Array.from({ length: 12 }, () => bundles.enter());
    const text = JSON.stringify('x'.repeat(60 * 1024));
    const puts = places.map((place) => place.put(jobOf(place.uploadId, text)));
    const told = await Promise.all(puts);
    expect(told.filter((isJoined) => isJoined)).toHaveLength(9);
    expect(ids().map((uploads) => uploads.length)).toEqual([9]);
  });

  test('are all told when the queue does not take them, and later ones are not concerned', async () => {
    let failures = 1;
    const { bundles } = setUp(async () => {
      if (failures-- > 0) throw new Error('no queue');
    });
    const send = () =>
      Promise.allSettled([bundles.enter(), bundles.enter()].map((place) => place.put(jobOf(place.uploadId))));
    expect((await send()).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect((await send()).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });
});
