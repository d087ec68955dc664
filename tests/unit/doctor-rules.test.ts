import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  clockFinding,
  diskFinding,
  durabilityFinding,
  evictionFinding,
  lagFinding,
  migrationsFinding,
  versionFinding,
} from '../../src/operate/doctor/rules.ts';
import { compareByNumbers } from '../../src/versions.ts';
import { isRemedied } from '../support/findings.ts';

const GIB = 1024 ** 3;

describe('the rules', () => {
  test('versions are compared by number, part by part', () => {
    const version = fc.array(fc.nat(30), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(version, version, (a, b) => {
        const sign = Math.sign(compareByNumbers(a.join('.'), b.join('.')));
        const width = Math.max(a.length, b.length);
        const padded = (parts: number[]) =>
          Array.from({ length: width }, (_, i) => String(parts[i] ?? 0).padStart(3, '0')).join('.');
        expect(sign).toBe(padded(a) < padded(b) ? -1 : padded(a) > padded(b) ? 1 : 0);
      }),
    );
    expect(compareByNumbers('18.4 (Debian 18.4-1)', '18.4')).toBe(0);
  });

  test.each([
    ['PostgreSQL', '13.9', 'problem'],
    ['PostgreSQL', '14.0', 'ok'],
    ['PostgreSQL', '18.4', 'ok'],
    ['PostgreSQL', '19.0', 'warning'],
    ['Redis', '4.0.14', 'problem'],
    ['Redis', '6.0.9', 'warning'],
    ['Redis', '7.2.4', 'ok'],
    ['ClickHouse', '24.3.1', 'problem'],
    ['ClickHouse', '26.7.2.1', 'ok'],
  ] as const)('%s %s is %s', (product, version, level) => {
    expect(versionFinding(product, version).level).toBe(level);
  });

  test('a clock, a disk, a backlog and migrations get worse in steps, and every problem has a remedy', () => {
    const findings = [
      ...[0, -1_999, 2_000, -60_000].map((ms) => clockFinding('PostgreSQL', ms)),
      ...[6 * GIB, 4 * GIB, GIB - 1].map((bytes) => diskFinding('Data folder', bytes)),
      ...[0, 59, 60, 600].map((seconds) => lagFinding('Queue', 'job', 3, seconds, 'Look.')),
      lagFinding('Queue', 'job', 0, 9_999, 'Look.'),
      ...[2, 1, 3].map((done) => migrationsFinding('PostgreSQL', done, 2)),
      ...['noeviction', 'allkeys-lru'].map(evictionFinding),
      ...[[], ['executions', 'health']].map(durabilityFinding),
    ];
    expect(findings.map(({ level }) => level)).toEqual([
      ...(['ok', 'ok', 'warning', 'problem'] as const),
      ...(['ok', 'warning', 'problem'] as const),
      ...(['ok', 'ok', 'warning', 'problem'] as const),
      'ok',
      ...(['ok', 'problem', 'problem'] as const),
      ...(['ok', 'problem'] as const),
      ...(['ok', 'warning'] as const),
    ]);
    expect(isRemedied(findings)).toBe(true);
  });

  test('a backlog says how long it will take, or that it does not get less', () => {
    const message = (drain?: number) => lagFinding('Queue', 'job', 200_000, 30, 'Look.', drain).message;
    expect(message(20)).toEndWith('At the present rate they will be done in about a minute.');
    expect(message(700)).toEndWith('At the present rate they will be done in about 12 minutes.');
    expect(message(Number.POSITIVE_INFINITY)).toEndWith('They are not getting fewer.');
    expect(message()).toBe('200,000 jobs waiting, the oldest for 30 s.');
  });
});
