/** Reports that contradict each other under the same names are legs by their order; a resend of any counts nothing. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { executionIdOf } from '../../src/domain/identity.ts';
import { type ReportedResult, variantOf } from '../../src/domain/result-variant.ts';
import type { Status } from '../../src/domain/status.ts';
import { UNNAMED_LEGS_MAX } from '../../src/domain/unnamed-leg.ts';
import { SourceLegs } from '../../src/ledger/source-legs.ts';

type Row = [test: number, result: 'pass' | 'fail' | 'other failure' | 'skip'];

const STATUS = { pass: 'passed', fail: 'failed', 'other failure': 'failed', skip: 'skipped' } as const;

function resultOf([number, result]: Row) {
  const status: Status = STATUS[result];
  const failures: ReportedResult['failures'] = status === 'failed' ? [[1, 'Error', result, null]] : [];
  const variant = variantOf({ status, isFlaky: false, failures });
  return { id: executionIdOf('source', String(number), `test ${number}`, variant), status, variant };
}

/** How many results of the report are new, and in which leg. */
function send(legs: SourceLegs, rows: readonly Row[], legsMax = UNNAMED_LEGS_MAX): { leg: number; accepted: number } {
  const results = rows.map(resultOf);
  const placement = legs.placementOf(results, legsMax);
  return { leg: placement.leg, accepted: results.filter(({ id }) => legs.claim(id, placement).isNew).length };
}

const PASSES: Row[] = [1, 2, 3, 4].map((test) => [test, 'pass']);
const but = (...rows: Row[]): Row[] => [...new Map([...PASSES, ...rows])];

describe('a report is another leg', () => {
  test('if one of its tests fails that passed, with all of its results', () => {
    const legs = new SourceLegs();
    expect(send(legs, PASSES)).toEqual({ leg: 1, accepted: 4 });
    expect(send(legs, but([3, 'fail']))).toEqual({ leg: 2, accepted: 4 });
    expect(send(legs, but([3, 'fail'], [4, 'fail']))).toEqual({ leg: 3, accepted: 4 });
  });

  test('if one of its tests passes that failed, beside tests that had passed', () => {
    const legs = new SourceLegs();
    send(legs, but([3, 'fail']));
    expect(send(legs, PASSES)).toEqual({ leg: 2, accepted: 4 });
  });
});

describe('a report is no other leg', () => {
  test.each<[string, Row[], Row[], number]>([
    [
      'if it only tries again what failed',
      but([3, 'fail'], [4, 'fail']),
      [
        [3, 'pass'],
        [4, 'fail'],
      ],
      1,
    ],
    [
      'if it tries again what failed and skips the rest',
      but([3, 'fail']),
      [
        [1, 'skip'],
        [2, 'skip'],
        [3, 'pass'],
      ],
      3,
    ],
    [
      'if its tests are others, as those of another shard',
      PASSES,
      [
        [5, 'fail'],
        [6, 'pass'],
      ],
      2,
    ],
    [
      'if it overlaps and agrees',
      PASSES,
      [
        [4, 'pass'],
        [5, 'fail'],
      ],
      1,
    ],
    ['if it only fails with another text', but([3, 'fail']), but([3, 'other failure']), 1],
    ['if it only skips other tests', PASSES, but([3, 'skip']), 1],
  ])('%s', (_, first, second, accepted) => {
    const legs = new SourceLegs();
    send(legs, first);
    expect(send(legs, second)).toEqual({ leg: 1, accepted });
    expect(send(legs, second).accepted).toBe(0);
    expect(send(legs, first).accepted).toBe(0);
  });

  test('beyond the last one', () => {
    const legs = new SourceLegs();
    send(legs, PASSES, 2);
    send(legs, but([3, 'fail']), 2);
    expect(send(legs, but([4, 'fail']), 2)).toEqual({ leg: 2, accepted: 2 });
  });
});

const row = fc.tuple(fc.nat(6), fc.constantFrom('pass', 'pass', 'fail', 'other failure', 'skip')) as fc.Arbitrary<Row>;
const report = fc.array(row, { minLength: 1, maxLength: 7 }).map((rows): Row[] => [...new Map(rows)]);

test('a report that is sent again counts nothing, whatever came in between, in whatever order, cut or whole', () => {
  fc.assert(
    fc.property(
      fc.array(report, { minLength: 1, maxLength: 6 }),
      fc.array(fc.tuple(fc.nat(5), fc.nat(7), fc.nat(7)), { maxLength: 12 }),
      (reports, resends) => {
        const legs = new SourceLegs();
        for (const [i, rows] of reports.entries()) {
          send(legs, rows);
          for (const before of reports.slice(0, i + 1)) expect(send(legs, before).accepted).toBe(0);
        }
        for (const [which, from, to] of resends) {
          const piece = (reports[which] ?? []).slice(from, to);
          if (piece.length > 0) expect(send(legs, piece).accepted).toBe(0);
        }
      },
    ),
    { numRuns: 2_000 },
  );
});

test('no result is lost, and each leg has each at most once', () => {
  fc.assert(
    fc.property(fc.array(report, { minLength: 1, maxLength: 6 }), (reports) => {
      const legs = new SourceLegs();
      let accepted = 0;
      let last = 1;
      for (const rows of reports) {
        const sent = send(legs, rows);
        accepted += sent.accepted;
        last = Math.max(last, sent.leg);
      }
      const distinct = new Set(reports.flat().map(([test, result]) => `${test} ${result}`));
      expect(accepted).toBeGreaterThanOrEqual(distinct.size);
      expect(accepted).toBeLessThanOrEqual(distinct.size * last);
    }),
    { numRuns: 1_000 },
  );
});
