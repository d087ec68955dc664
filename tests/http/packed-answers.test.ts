/** Answers as gzip: for those who take it, and the same data. */
import { describe, expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { at, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights((fixture) =>
  fixture.ingest(fixture.run(Array.from({ length: 60 }, (_, i) => ({ name: `test ${i}`, at: at(2) })))),
);
const TAKES = { 'accept-encoding': 'gzip, deflate, br' };
const LONG = { test_name: '*', per_page: '50' };

const ask = (path: string, headers: Record<string, string>) => insights.app.requestUnchecked(path, { headers });

describe('an answer', () => {
  test('of more than a kilobyte is gzip for a client that takes it, and the same data', async () => {
    const address = insights.fixture.search(LONG);
    const [plain, packed] = [await ask(address, {}), await ask(address, TAKES)];
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(packed.headers.get('content-encoding')).toBe('gzip');
    const [text, bytes] = [await plain.text(), new Uint8Array(await packed.arrayBuffer())];
    expect(gunzipSync(bytes).toString()).toBe(text);
    expect(bytes.byteLength).toBeLessThan(text.length / 4);
    for (const { headers } of [plain, packed]) {
      expect(headers.get('vary')).toBe('accept-encoding');
      expect(headers.get('content-type')).toBe('application/json');
    }
  });

  test('is as it is for a client that refuses gzip, and if it is short, an error or the answer to a write', async () => {
    const address = insights.fixture.search(LONG);
    const encodingOf = async (path: string, headers: Record<string, string>) =>
      (await ask(path, headers)).headers.get('content-encoding');
    for (const refusing of ['', 'br', 'gzip;q=0', 'identity, gzip;q=0.0'])
      expect([refusing, await encodingOf(address, { 'accept-encoding': refusing })]).toEqual([refusing, null]);
    expect(await encodingOf(address, { 'accept-encoding': 'br;q=1, GZIP;q=0.5' })).toBe('gzip');
    expect(await encodingOf(insights.fixture.search({ test_name: 'test 7' }), TAKES)).toBeNull();
    expect(await encodingOf(insights.fixture.search({ sort: 'nothing'.repeat(500) }), TAKES)).toBeNull();
  });

  test('has another tag in each form, and each is answered with 304', async () => {
    const address = insights.fixture.search(LONG);
    const [plain, packed] = [await ask(address, {}), await ask(address, TAKES)];
    const tags = [plain, packed].map(({ headers }) => headers.get('etag') ?? '');
    expect(new Set(tags).size).toBe(2);
    const again = await ask(address, { ...TAKES, 'if-none-match': tags[1] ?? '' });
    expect([again.status, again.headers.get('vary'), again.headers.get('content-encoding')]).toEqual([
      304,
      'accept-encoding',
      null,
    ]);
    expect((await ask(address, { 'if-none-match': tags[0] ?? '' })).status).toBe(304);
  });

  test('that equal requests share, and one from memory, are whole for each', async () => {
    const address = insights.fixture.search(LONG);
    const expected = await (await ask(address, {})).text();
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => ask(address, i % 2 === 0 ? TAKES : {})));
    for (const [i, answer] of answers.entries()) {
      const bytes = new Uint8Array(await answer.arrayBuffer());
      expect((i % 2 === 0 ? gunzipSync(bytes) : Buffer.from(bytes)).toString()).toBe(expected);
    }
    const quarantines = `${insights.fixture.base}/quarantines`;
    for (let i = 0; i < 30; i++) {
      const body = JSON.stringify({ test_name: `test ${i}`, reason: 'r', branch: null });
      const headers = { 'content-type': 'application/json' };
      expect((await insights.app.request(quarantines, { method: 'POST', headers, body })).status).toBe(201);
    }
    const list = `${quarantines}?branch=main`;
    const plain = await (await ask(list, {})).text();
    for (let i = 0; i < 3; i++)
      expect(gunzipSync(new Uint8Array(await (await ask(list, TAKES)).arrayBuffer())).toString()).toBe(plain);
  });
});
