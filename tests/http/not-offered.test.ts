/** Features that clients ask for and can work without, and what a refusal must not look like to them. */
import { beforeAll, expect, test } from 'bun:test';
import { openTestApp, type TestApp } from '../support/http.ts';
import { uniqueRepository } from '../support/stores.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openTestApp();
});

const baseOf = ({ owner, name } = uniqueRepository()) => `/v1/ci/${owner}/repositories/${name}`;

test.each(['test-selection?branch=main&head_sha=1f3a9c2'])(
  '%s is 404, which clients take for "not enabled", and says what there is instead',
  async (path) => {
    const address = `${baseOf()}/${path}`;
    const response = await app.request(address);
    const { detail } = (await response.json()) as { detail: string };
    expect([response.status, detail]).toEqual([404, expect.stringContaining('not offered here')]);
    expect((await app.request(address, { token: 'cii_unknown' })).status).toBe(403);
  },
);

test('an ordinary refusal has no rate-limit header: clients would wait instead of reporting it', async () => {
  const base = baseOf();
  for (const token of [null, 'cii_unknown', await app.makeKey({ owner: 'somebody-else' })]) {
    const response = await app.request(`${base}/quarantines`, { token });
    expect(response.status).toBe(403);
    const names = [...response.headers.keys()].filter((name) => /rate-?limit|retry-after/i.test(name));
    expect(names).toEqual([]);
  }
});
