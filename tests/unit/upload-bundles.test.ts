/** How small uploads that arrive together come to share a queue job. */
import { describe, expect, test } from 'bun:test';
import { UploadBundles } from '../../src/ingest/bundles.ts';
import { unpack } from '../../src/queue/encoding.ts';
import type { PackedJob } from '../../src/queue/packed-job.ts';
import { bundleJobIds, bundleOf, uploadBundleSchema } from '../../src/queue/upload-bundles.ts';

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
    const put = place.put(jobOf(place.uploadId));
    expect(await Promise.race([put, Bun.sleep(0).then(() => 'waits for a timer')])).toBe(false);
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

  test('wait for slow ones no longer than a moment; these follow in the next job, and nothing is sent twice', async () => {
    const { bundles, ids, sent } = setUp();
    const places = Array.from({ length: 5 }, () => bundles.enter());
    const put = (from: number, to: number): Promise<boolean[]> =>
      Promise.all(places.slice(from, to).map((place) => place.put(jobOf(place.uploadId))));
    expect(await put(0, 2)).toEqual([true, true]);
    expect(await put(2, 4)).toEqual([true, true]);
    expect(await put(4, 5)).toEqual([false]);
    const [a, b, c, d] = places.map(({ uploadId }) => `${uploadId}-0`);
    expect(ids()).toEqual([[a, b] as string[], [c, d] as string[]]);
    expect(sent.map(({ id }) => id)).toEqual(bundleJobIds(bundleOf(places[0]?.uploadId ?? '')).slice(0, 2));
  });

  test('go alone once their bundle has all the jobs that it may have', async () => {
    const { bundles, sent } = setUp();
    const places = Array.from({ length: 20 }, () => bundles.enter());
    const text = JSON.stringify('x'.repeat(300 * 1024));
    const told = await Promise.all(places.map((place) => place.put(jobOf(place.uploadId, text))));
    expect(sent).toHaveLength(4);
    expect(told.filter((isJoined) => isJoined)).toHaveLength(8);
  });

  test('are in another bundle once the first job of theirs is sent', async () => {
    const { bundles } = setUp();
    const [first, second] = [bundles.enter(), bundles.enter()];
    const third = bundles.enter();
    expect(bundleOf(third.uploadId)).toBe(bundleOf(first.uploadId));
    third.leave();
    await Promise.all([first, second].map((place) => place.put(jobOf(place.uploadId))));
    expect(bundleOf(bundles.enter().uploadId)).not.toBe(bundleOf(first.uploadId));
  });

  test('are sent before they are large together', async () => {
    const { bundles, ids } = setUp();
    const places = Array.from({ length: 12 }, () => bundles.enter());
    const text = JSON.stringify('x'.repeat(60 * 1024));
    expect(await Promise.all(places.map((place) => place.put(jobOf(place.uploadId, text))))).not.toContain(false);
    expect(ids().map((uploads) => uploads.length)).toEqual([9, 3]);
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
