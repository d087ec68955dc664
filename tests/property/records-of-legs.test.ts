/** The records of a report with axes: each leg is settled as if it were a separate report. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { axesText } from '../../src/domain/axes.ts';
import { type Listing, settled, type TestRecord } from '../../src/domain/records.ts';

const LISTINGS: Listing[] = ['never', 'attempts', 'reruns', 'repeats'];
const AXES = [undefined, { os: 'linux' }, { os: 'windows' }, { os: 'linux', browser: 'webkit' }];

interface Drawn {
  suite: string;
  status: TestRecord['status'];
  leg: number;
}
const drawn: fc.Arbitrary<Drawn> = fc.record({
  suite: fc.constantFrom('a', 'b'),
  status: fc.constantFrom('passed', 'failed', 'skipped'),
  leg: fc.nat(AXES.length - 1),
});

function recordOf({ suite, status, leg }: Drawn, listing: Listing, index: number): TestRecord {
  const axes = AXES[leg];
  const message = `failure ${index}`;
  return {
    name: 'pays',
    status,
    durationSeconds: 1,
    finishedAtMs: index,
    isFlaky: false,
    isRetried: false,
    failures: status === 'failed' ? [{ attempt: 1, type: null, message, stacktrace: null }] : [],
    listing,
    part: 'whole',
    round: 0,
    home: { suites: [suite], file: null, project: null, className: null, ownName: 'pays' },
    ...(axes && { axes }),
  };
}

const sorted = (records: readonly TestRecord[]): string[] => records.map((one) => JSON.stringify(one)).toSorted();

describe('records with one name and different axes', () => {
  test('are settled leg by leg: nothing of one leg is an attempt or a namesake of another', () => {
    fc.assert(
      fc.property(fc.constantFrom(...LISTINGS), fc.array(drawn, { maxLength: 12 }), (listing, all) => {
        const inOneSuite = all.map((one, index) => recordOf({ ...one, suite: 'a' }, listing, index));
        const alone = AXES.flatMap(
          (axes) => settled(inOneSuite.filter((record) => axesText(record.axes) === axesText(axes))).executions,
        );
        expect(sorted(settled(inOneSuite).executions)).toEqual(sorted(alone));
      }),
    );
  });

  test('keep the name, unless one leg has the name in several suites; then a suite has one name in every leg', () => {
    fc.assert(
      fc.property(fc.array(drawn, { maxLength: 12 }), (all) => {
        const { executions, renamed } = settled(all.map((one, index) => recordOf(one, 'repeats', index)));
        const isTwice = AXES.some(
          (_, leg) => new Set(all.filter((one) => one.leg === leg).map(({ suite }) => suite)).size > 1,
        );
        expect(renamed).toEqual(isTwice ? ['pays'] : []);
        for (const { name, home } of executions) expect(name).toBe(isTwice ? `${home?.suites[0]}.pays` : 'pays');
      }),
    );
  });
});
