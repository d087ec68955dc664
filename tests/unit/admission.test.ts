import { describe, expect, test } from 'bun:test';
import { Admission, type Admitted, NoRoom } from '../../src/ingest/admission.ts';

const MEBIBYTE = 1024 * 1024;

/** With a clock that stands still unless moved. */
function start() {
  let now = 0;
  const admission = new Admission(
    () => now,
    {},
    () => 0.5,
  );
  return {
    admission,
    pass: (seconds: number): void => {
      now += seconds * 1_000;
    },
    admit: (owner: string, mebibytes: number): Admitted => {
      const admitted = admission.admit({ owner, sentBytes: mebibytes * MEBIBYTE, isGzip: false });
      admitted.complete();
      return admitted;
    },
    /** Admits as many as there is room for, each of another owner. */
    fill: (mebibytes: number, ownerOf = (i: number) => `owner ${i}`): Admitted[] => {
      const admitted: Admitted[] = [];
      try {
        for (let i = 0; ; i++) {
          const one = admission.admit({ owner: ownerOf(i), sentBytes: mebibytes * MEBIBYTE, isGzip: false });
          one.complete();
          admitted.push(one);
        }
      } catch (error) {
        expect(error).toBeInstanceOf(NoRoom);
      }
      return admitted;
    },
  };
}

describe('an upload is admitted', () => {
  test('while few others are there, however large', () => {
    const { admit } = start();
    for (let i = 0; i < 4; i++) admit('acme', 25);
    for (let i = 0; i < 10; i++) expect(() => admit('acme', 0.001)).toThrow(NoRoom);
    expect(() => admit('other', 0.001)).toThrow(NoRoom);
  });

  test('while those before it need less than 5 s', () => {
    const { admission, fill } = start();
    fill(1);
    expect(admission.waitSeconds).toBeGreaterThan(4.5);
    expect(admission.waitSeconds).toBeLessThanOrEqual(5);
  });

  test('as soon as others have left', () => {
    const { admit, fill } = start();
    const [first, second] = fill(1);
    first?.leave();
    second?.leave();
    expect(() => admit('late', 1)).not.toThrow();
  });

  test('although one owner has filled its share', () => {
    const { admission, fill, admit } = start();
    fill(1, () => 'greedy');
    expect(admission.waitSeconds).toBeLessThanOrEqual(3);
    expect(() => admit('modest', 1)).not.toThrow();
  });

  test('by its unpacked size, as far as that can be told', () => {
    const { admission } = start();
    admission.admit({ owner: 'a', sentBytes: MEBIBYTE, isGzip: false });
    const plain = admission.waitSeconds;
    admission.admit({ owner: 'b', sentBytes: MEBIBYTE, isGzip: true });
    expect(admission.waitSeconds - plain).toBeGreaterThan(10 * plain);
  });
});

test('how many are admitted follows what has passed', () => {
  const { fill, pass } = start();
  const slow = fill(1);
  // A quarter of a MiB per second.
  for (const admitted of slow) {
    pass(4);
    admitted.leave();
  }
  const few = fill(1);
  expect(few.length).toBeLessThan(slow.length / 8);
  for (const admitted of few) admitted.leave();
  // And back again: what was slow is quick now.
  for (let i = 0; i < 200; i++) {
    const quick = fill(1);
    pass(quick.length / 12);
    for (const admitted of quick) admitted.leave();
  }
  expect(fill(1).length).toBeGreaterThan(slow.length / 2);
});

test('bodies that arrive slowly say nothing about the rate', () => {
  const { admission, fill, pass } = start();
  for (let i = 0; i < 10; i++) admission.admit({ owner: `slow ${i}`, sentBytes: 1, isGzip: false });
  pass(60);
  expect(fill(1).length).toBeGreaterThan(40);
});

test('a few uploads that take long do not make the next ones wait', () => {
  const { fill, pass, admit } = start();
  for (let i = 0; i < 200; i++) {
    const alone = admit('acme', 0.01);
    pass(2);
    alone.leave();
  }
  expect(fill(1).length).toBe(start().fill(1).length);
});

test('the time to try again grows with the wait and is spread', () => {
  const at = (random: number): number => {
    const admission = new Admission(
      () => 0,
      {},
      () => random,
    );
    for (let i = 0; i < 4; i++) admission.admit({ owner: 'acme', sentBytes: 30 * MEBIBYTE, isGzip: false });
    try {
      admission.admit({ owner: 'acme', sentBytes: 1, isGzip: false });
    } catch (error) {
      if (error instanceof NoRoom) return error.retryAfterSeconds;
    }
    throw new Error('it was admitted');
  };
  expect([at(0), at(0.5), at(0.999)]).toEqual([3, 5, 8]);
});

test('bytes in memory are bounded, also of bodies that say nothing of their length', () => {
  const admission = new Admission(() => 0, { bytesMax: 4 * MEBIBYTE });
  const unstated = { owner: 'acme', sentBytes: null, isGzip: false };
  const first = admission.admit(unstated);
  const second = admission.admit({ ...unstated, owner: 'other' });
  first.arrived(3 * MEBIBYTE);
  expect(() => second.arrived(2 * MEBIBYTE)).toThrow(NoRoom);
  second.leave();
  // Alone it may be as large as the limits of a body allow.
  expect(() => first.arrived(5 * MEBIBYTE)).not.toThrow();
  first.leave();
  first.leave();
  expect(admission.waitSeconds).toBe(0);
});
