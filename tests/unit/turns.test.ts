/** Large bodies that arrive together are read in turns, and others are served in between. */
import { expect, test } from 'bun:test';
import { z } from 'zod';
import { readJsonBody } from '../../src/http/body.ts';
import { BodyRoom } from '../../src/http/body-room.ts';
import { turn } from '../../src/http/turns.ts';

const MEBIBYTE = 1024 * 1024;

/** Notes what happens, and each round of the event loop. */
function watch() {
  const happened: string[] = [];
  let isWatching = true;
  const round = (): void => {
    if (happened.at(-1) !== 'round') happened.push('round');
    if (isWatching) setImmediate(round);
  };
  setImmediate(round);
  const stop = (): void => {
    isWatching = false;
  };
  return { happened, stop };
}

const notAdjacent = (happened: readonly string[]): boolean =>
  happened.every((what, i) => what === 'round' || happened[i + 1] !== what);

test('between the turns of many, the process does what else waits', async () => {
  const { happened, stop } = watch();
  await Promise.all(Array.from({ length: 10 }, () => turn().then(() => happened.push('turn'))));
  stop();
  expect(happened.filter((what) => what === 'turn').length).toBe(10);
  expect(notAdjacent(happened)).toBe(true);
});

test('of ten large bodies, no two are parsed or checked without a round of the event loop in between', async () => {
  const { happened, stop } = watch();
  const names = JSON.stringify(Array.from({ length: 1_000 }, (_, i) => `${'x'.repeat(200)}${i}`));
  const schema = z.array(z.string()).transform((read) => {
    happened.push('checked');
    return read;
  });
  const room = new BodyRoom(64 * MEBIBYTE);
  const reads = await Promise.all(
    Array.from({ length: 10 }, () => {
      const headers = { 'content-type': 'application/json', 'content-length': String(names.length) };
      const request = new Request('http://localhost', { method: 'POST', headers, body: names });
      return readJsonBody(request, { schema, bytesMax: MEBIBYTE, room });
    }),
  );
  stop();
  expect(reads.filter(({ errors }) => errors === undefined).length).toBe(10);
  expect(happened.filter((what) => what === 'checked').length).toBe(10);
  expect(notAdjacent(happened)).toBe(true);
  expect(room.bytes).toBe(0);
});
