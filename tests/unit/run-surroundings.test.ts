/** Surroundings of a run. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { PastRuns, type StartedRun } from '../../src/domain/run-surroundings.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';

const NOW = Date.UTC(2026, 10, 22, 12);

/** Within two days, often at the same moment or at the edge of an hour or a day. */
const moment = fc
  .tuple(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 24 }), fc.integer({ min: -2, max: 2 }))
  .map(([days, hours, milliseconds]) => NOW - days * DAY_MS - hours * HOUR_MS + milliseconds);
const run = fc.record({
  startedAt: moment,
  place: fc.constantFrom('unit', 'browser'),
  executions: fc.integer({ min: 1, max: 500 }),
  unexpected: fc.integer({ min: 0, max: 40 }),
});
const inOrder = (runs: readonly StartedRun[]): StartedRun[] =>
  [...runs].sort((one, other) => one.startedAt - other.startedAt);

/** The definition: two tests or more, and at least a fiftieth of the run. */
const isInTrouble = ({ executions, unexpected }: StartedRun): boolean =>
  unexpected >= 2 && unexpected >= executions / 50;

/** The definition: the runs that began less than `ms` before, each with a twentieth of itself for each failure at most. */
function pooledOf(runs: readonly StartedRun[], startedAt: number, ms: number) {
  const of = runs.filter((one) => one.startedAt < startedAt && startedAt - one.startedAt < ms);
  return {
    executions: of.reduce((sum, { executions }) => sum + executions, 0),
    unexpected: of.reduce((sum, one) => sum + Math.min(one.unexpected * 20, one.executions), 0) / 20,
    runs: of.length,
    troubled: of.filter(isInTrouble).length,
  };
}

describe('the surroundings of a run', () => {
  test('are the runs that began in the hour and in the day before it, known or added', () => {
    fc.assert(
      fc.property(
        fc.array(run, { maxLength: 40 }),
        fc.nat(40),
        fc.array(moment, { maxLength: 5 }),
        (all, known, at) => {
          const runs = inOrder(all);
          const past = new PastRuns(runs.slice(0, known));
          for (const one of runs.slice(known)) past.add(one);
          for (const startedAt of at) {
            const { hour, day } = past.before(startedAt);
            expect(hour).toEqual(pooledOf(runs, startedAt, HOUR_MS));
            expect(day).toEqual(pooledOf(runs, startedAt, DAY_MS));
          }
        },
      ),
    );
  });

  test('are usual by the hours of two weeks that ended a day before, whenever they are asked for', () => {
    fc.assert(
      fc.property(fc.array(run, { maxLength: 30 }), fc.array(moment, { maxLength: 3 }), (all, at) => {
        const past = new PastRuns();
        const added: StartedRun[] = [];
        for (const one of inOrder(all)) {
          past.add(one);
          added.push(one);
          for (const startedAt of at) {
            const until = Math.floor((startedAt - DAY_MS) / HOUR_MS) * HOUR_MS;
            const of = added.filter((known) => known.startedAt < until && known.startedAt >= until - 14 * DAY_MS);
            expect(past.before(startedAt).usual).toEqual({
              executions: of.reduce((sum, { executions }) => sum + executions, 0),
              unexpected: of.filter(({ unexpected }) => unexpected > 0).length,
              runs: of.length,
              troubled: of.filter(isInTrouble).length,
            });
          }
        }
      }),
    );
  });
});
