import { expect, test } from 'bun:test';
import { CLOCK_TOLERANCE_MS, SteadyClock } from '../../src/clock.ts';

const HOUR = 3_600_000;
const YEAR = 365 * 24 * HOUR;

/** A machine whose clock may be set, and the time that really passes. */
function machine(at = Date.UTC(2028, 1, 29, 12)) {
  const state = { at, elapsed: 0 };
  return {
    state,
    clock: new SteadyClock({ now: () => state.at }, () => state.elapsed),
    pass: (ms: number) => {
      state.at += ms;
      state.elapsed += ms;
    },
  };
}

test.each([HOUR, 24 * HOUR, YEAR, -HOUR, -24 * HOUR, -YEAR])('a jump of %d ms moves the clock by nothing', (jump) => {
  const { state, clock, pass } = machine();
  const truth = state.at;
  expect(clock.compare(truth)).toBe(0);
  pass(5_000);
  state.at += jump;
  pass(5_000);
  expect(clock.now()).toBe(truth + 10_000);
  expect(clock.driftMs()).toBe(jump);
  expect(clock.compare(truth + 10_000)).toBe(jump);
  expect(clock.now()).toBe(truth + 10_000);
  // Set right again, it is followed again.
  state.at -= jump;
  pass(1_000);
  expect(clock.compare(truth + 11_000)).toBe(0);
  expect(clock.now()).toBe(truth + 11_000);
});

test('a machine that is wrong from the start is not believed', () => {
  const { state, clock, pass } = machine();
  const truth = state.at - YEAR;
  expect(clock.compare(truth)).toBe(YEAR);
  pass(1_000);
  expect(clock.now()).toBe(truth + 1_000);
});

test('the machine is followed within the tolerance, and a second clock that goes wrong is not', () => {
  const { state, clock, pass } = machine();
  clock.compare(state.at);
  state.at += CLOCK_TOLERANCE_MS;
  clock.compare(state.at - CLOCK_TOLERANCE_MS);
  expect(clock.now()).toBe(state.at);
  pass(1_000);
  clock.compare(state.at + YEAR);
  expect(clock.now()).toBe(state.at);
});

test('after a suspension, in which no time seemed to pass, the machine is followed', () => {
  const { state, clock } = machine();
  clock.compare(state.at);
  state.at += 9 * HOUR;
  clock.compare(state.at);
  expect(clock.now()).toBe(state.at);
});
