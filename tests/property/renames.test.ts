/** What holds of every proposed rename, whatever tests there are. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  type ProposedRename,
  proposeRenames,
  RENAME_COMMITS_MIN,
  RENAME_CONFIDENCE_MIN,
  type SeenTest,
} from '../../src/domain/renames.ts';
import { partsOfName } from '../../src/domain/test-name-parts.ts';
import { makeRenameWorld, NO_RENAMES, RENAMES } from '../simulation/rename-worlds.ts';

const LEGS = ['ci\0unit\0', 'ci\0unit\0os=mac'];
const COMMITS = 12;
const commits = new Map(LEGS.map((leg) => [leg, COMMITS]));

const span = fc
  .tuple(fc.constantFrom(0, 5, 6), fc.constantFrom(4, 5, COMMITS - 1))
  .filter(([first, last]) => first <= last)
  .map(([first, last]) => ({ first, last }));
const spans = fc
  .tuple(fc.subarray(LEGS, { minLength: 1 }), span)
  .map(([legs, at]) => legs.map((leg) => ({ leg, ...at })));
const name = fc
  .tuple(
    fc.constantFrom('a.CartTest', 'b.CartTest', 'a.TaxTest', 'Cart >'),
    fc.constantFrom('adds', 'addsItem', 'addsItems', 'removesItem'),
    fc.constantFrom('', '[1]', '[2]'),
  )
  .map(([place, own, row]) => `${place}${place.endsWith('>') ? ' ' : '.'}${own}${row}`);
const seen: fc.Arbitrary<SeenTest[]> = fc.uniqueArray(
  fc
    .record({ name, file: fc.constantFrom('', 'a.ts', 'b.ts'), history: fc.constantFrom('', '', '1', '2'), spans })
    .map((one) => ({ testId: one.name, ...one })),
  { selector: ({ testId }) => testId, maxLength: 30 },
);

const check = (holds: (tests: SeenTest[], found: readonly ProposedRename[]) => void) =>
  fc.assert(fc.property(seen, (tests) => holds(tests, proposeRenames(tests, commits))));

describe('proposed renames', () => {
  test('give each test one successor at most, and each successor one predecessor', () => {
    check((_, found) => {
      expect(new Set(found.map(({ fromId }) => fromId)).size).toBe(found.length);
      expect(new Set(found.map(({ toId }) => toId)).size).toBe(found.length);
    });
  });

  test('join a test that ended with one that began at the next commit of each leg', () => {
    check((tests, found) => {
      const byId = new Map(tests.map((one) => [one.testId, one]));
      for (const { fromId, toId } of found) {
        const ends = byId.get(fromId)?.spans.map(({ leg, last }) => [leg, last + 1]);
        const begins = byId.get(toId)?.spans.map(({ leg, first }) => [leg, first]);
        expect(begins).toEqual(ends);
        for (const one of byId.get(toId)?.spans ?? [])
          expect(COMMITS - one.first).toBeGreaterThanOrEqual(RENAME_COMMITS_MIN);
      }
    });
  });

  test('do not depend on the order of tests', () => {
    fc.assert(
      fc.property(seen, fc.infiniteStream(fc.nat()), (tests, ranks) => {
        const mixed = tests
          .map((one) => ({ one, rank: ranks.next().value ?? 0 }))
          .sort((a, b) => a.rank - b.rank)
          .map(({ one }) => one);
        const sorted = (found: readonly ProposedRename[]) => found.toSorted((a, b) => (a.fromId < b.fromId ? -1 : 1));
        expect(sorted(proposeRenames(mixed, commits))).toEqual(sorted(proposeRenames(tests, commits)));
      }),
    );
  });

  test('keep the row of a parametrised test, and are at least half sure', () => {
    check((_, found) => {
      for (const { fromId, toId, confidence, reasons } of found) {
        if (!reasons.includes('same_history')) expect(partsOfName(toId).row).toBe(partsOfName(fromId).row);
        expect(confidence).toBeGreaterThanOrEqual(RENAME_CONFIDENCE_MIN);
        expect(confidence).toBeLessThanOrEqual(1);
        expect(reasons.length).toBeGreaterThan(1);
      }
    });
  });

  test('are none where the test itself continues, or where its successor is not known to last', () => {
    const going = { testId: 'a', name: 'a.T.x', file: '', history: '', spans: [{ leg: 'l', first: 0, last: 9 }] };
    const fresh = { testId: 'b', name: 'b.T.x', file: '', history: '', spans: [{ leg: 'l', first: 8, last: 9 }] };
    const of = (tests: SeenTest[]) => proposeRenames(tests, new Map([['l', 10]]));
    expect(of([going, fresh])).toEqual([]);
    expect(of([{ ...going, spans: [{ leg: 'l', first: 0, last: 7 }] }, fresh])).toEqual([]);
    expect(
      of([
        { ...going, spans: [{ leg: 'l', first: 0, last: 6 }] },
        { ...fresh, spans: [{ leg: 'l', first: 7, last: 9 }] },
      ]),
    ).toMatchObject([{ fromId: 'a', toId: 'b', reasons: ['same_commit', 'same_name'] }]);
  });

  test('follow what the framework says: the only test of a history becomes the only one that came with it', () => {
    check((tests, found) => {
      const byId = new Map(tests.map((one) => [one.testId, one]));
      type Span = SeenTest['spans'][number];
      const lasts = ({ first, last }: Span) => last - first + 1 >= RENAME_COMMITS_MIN;
      const isGone = ({ last }: Span) => COMMITS - (last + 1) >= RENAME_COMMITS_MIN;
      const isNew = ({ first }: Span) => first >= RENAME_COMMITS_MIN && COMMITS - first >= RENAME_COMMITS_MIN;
      const ends = ({ spans }: SeenTest) => JSON.stringify(spans.map(({ leg, last }) => [leg, last + 1]));
      const begins = ({ spans }: SeenTest) => JSON.stringify(spans.map(({ leg, first }) => [leg, first]));
      for (const { fromId, toId, reasons } of found) {
        const [from, to] = [byId.get(fromId), byId.get(toId)];
        if (!from || !to) throw new Error('a test that was not seen');
        if (reasons.includes('same_history')) expect(to.history).toBe(from.history);
        else if (from.history !== '') {
          // Another one has it, or none that came.
          const has = (one: SeenTest) => one.history === from.history && one.spans.every(lasts);
          const left = tests.filter((one) => has(one) && one.spans.every(isGone) && ends(one) === ends(from));
          const came = tests.filter((one) => has(one) && one.spans.every(isNew) && begins(one) === begins(to));
          expect(left.length === 1 && came.length === 1).toBe(false);
        }
      }
    });
  });

  test('leave out what is ambiguous: a name that several files had and have', () => {
    const spanOf = (first: number, last: number) => [{ leg: 'l', first, last }];
    const left = ['a.One', 'a.Two'].map((place) => ({ place, spans: spanOf(0, 4) }));
    const came = ['b.Three', 'b.Four'].map((place) => ({ place, spans: spanOf(5, 9) }));
    const tests = [...left, ...came].map(({ place, spans: at }) => ({
      ...{ testId: `${place}.renders`, name: `${place}.renders`, file: '', history: '', spans: at },
    }));
    expect(proposeRenames(tests, new Map([['l', 10]]))).toEqual([]);
  });
});

/** What docs/renames.md publishes of a thousand worlds of each kind, with room for fewer. */
describe('in made-up repositories', () => {
  const score = (kinds: readonly (typeof RENAMES)[number][]) => {
    let [planted, proposed, right] = [0, 0, 0];
    for (const kind of kinds)
      for (let seed = 1; seed <= 60; seed++) {
        const world = makeRenameWorld(kind, seed);
        const found = proposeRenames(world.tests, world.commits);
        planted += world.truth.size;
        proposed += found.length;
        right += found.filter(({ fromId, toId }) => world.truth.get(fromId) === toId).length;
      }
    return { precision: right / proposed, recall: right / planted };
  };

  test('nine of ten renames are found, and 98 of 100 proposals are right', () => {
    const { precision, recall } = score(RENAMES);
    expect(precision).toBeGreaterThan(0.98);
    expect(recall).toBeGreaterThan(0.9);
  });

  test('of tests that were removed and written, one in eight changes is proposed at most, and none surely', () => {
    let proposed = 0;
    let worlds = 0;
    for (const kind of NO_RENAMES)
      for (let seed = 1; seed <= 60; seed++, worlds++) {
        const world = makeRenameWorld(kind, seed);
        const found = proposeRenames(world.tests, world.commits);
        proposed += found.length;
        for (const { confidence } of found) expect(confidence).toBeLessThan(0.9);
      }
    expect(proposed / worlds).toBeLessThan(1 / 8);
  });
});
