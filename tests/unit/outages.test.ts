/** The log lines of an outage: a few, however many jobs fail. */
import { beforeEach, expect, test } from 'bun:test';
import { StoreUnavailable } from '../../src/errors.ts';
import { createLogger } from '../../src/observability/log.ts';
import { Outages } from '../../src/observability/outages.ts';

const MINUTE_MS = 60_000;
let now = 0;
let lines: { msg: string; failures?: number; err?: { message: string } }[] = [];
let outages: Outages;
beforeEach(() => {
  now = 0;
  lines = [];
  const log = createLogger('info', { write: (line: string) => lines.push(JSON.parse(line)) });
  outages = new Outages(log, () => now);
});

const away = new StoreUnavailable('clickhouse', new Error('connect ECONNREFUSED'));

/** Fails and looks, as the time passes. */
function failFor(ms: number, everyMs = 100): void {
  for (const until = now + ms; now < until; now += everyMs) {
    outages.failed('clickhouse', 'test-runs', away);
    outages.look();
  }
}

test('twenty seconds of failing jobs have one line, and the end of them another', () => {
  failFor(20_000);
  expect(lines).toHaveLength(1);
  outages.worked('test-runs');
  now += 20_000;
  outages.look();
  expect(lines.map(({ msg }) => msg)).toEqual([
    'clickhouse is away or refuses; what failed is tried again until it works',
    'clickhouse works again',
  ]);
  expect(lines[1]?.failures).toBe(200);
});

test('a long outage has one line a minute, which counts the failures', () => {
  failFor(5 * MINUTE_MS);
  expect(lines).toHaveLength(5);
  expect(lines.at(-1)).toMatchObject({ msg: 'clickhouse still fails', failures: 2_401 });
});

test('while some jobs fail and others work, the outage has not ended', () => {
  for (let i = 0; i < 300; i++) {
    outages.worked('test-runs');
    failFor(200);
  }
  expect(lines.filter(({ msg }) => msg.endsWith('again'))).toEqual([]);
  expect(lines.length).toBeLessThanOrEqual(2);
});

test('work that never failed does not end an outage, and each store has its own', () => {
  failFor(1_000);
  outages.failed('postgres', 'relay', new StoreUnavailable('postgres'));
  now += 30_000;
  outages.worked('expiry');
  outages.look();
  expect(lines.map(({ msg }) => msg.split(' ')[0])).toEqual(['clickhouse', 'postgres']);
});
