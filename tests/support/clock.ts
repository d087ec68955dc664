import type { Clock } from '../../src/clock.ts';

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  constructor(public at: number) {}
  now(): number {
    return this.at;
  }
  set(at: string | number): void {
    this.at = typeof at === 'number' ? at : Date.parse(at);
  }
}

/** The day on which the recorded uploads were made, an hour before midnight. */
export const TEST_NOW = Date.parse('2026-11-21T23:00:00Z');
