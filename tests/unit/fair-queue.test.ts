import { describe, expect, test } from 'bun:test';
import { ReadRefused } from '../../src/errors.ts';
import { FairQueue, type Shares, type Turn } from '../../src/fair-queue.ts';

const SHARES: Shares = {
  atOnce: 4,
  atOncePerOwner: 2,
  heavyAtOnce: 2,
  heavyAtOncePerOwner: 1,
  waitingPerOwner: 5,
  waitMs: 200,
};

/** Takes turns and records their order; `end` ends the oldest that runs. */
class Readers {
  readonly queue = new FairQueue(SHARES);
  readonly admitted: string[] = [];
  readonly #running = new Map<string, () => void>();

  ask(name: string, turn: Turn): Promise<void> {
    return this.queue.take(turn).then((release) => {
      this.admitted.push(name);
      this.#running.set(name, release);
    });
  }
  async end(name: string): Promise<void> {
    this.#running.get(name)?.();
    await Bun.sleep(0);
  }
}

describe('reads take turns', () => {
  test('an owner gets at most a share, and the others do not wait behind it', async () => {
    const readers = new Readers();
    const greedy = [1, 2, 3, 4].map((i) => readers.ask(`greedy ${i}`, { owner: 'greedy' }));
    await readers.ask('modest', { owner: 'modest' });
    expect(readers.admitted).toEqual(['greedy 1', 'greedy 2', 'modest']);
    await readers.end('greedy 1');
    await readers.end('greedy 2');
    await Promise.all(greedy);
    expect(readers.admitted.slice(3)).toEqual(['greedy 3', 'greedy 4']);
  });

  test('those who wait are served owner by owner, in the order in which they came', async () => {
    const readers = new Readers();
    for (const owner of ['a', 'b']) for (const i of [1, 2]) await readers.ask(`${owner}${i}`, { owner });
    const waiting = ['a3', 'a4', 'b3', 'c1'].map((name) => readers.ask(name, { owner: name.slice(0, 1) }));
    for (const name of ['a1', 'b1', 'b2', 'a2']) await readers.end(name);
    await Promise.all(waiting);
    expect(readers.admitted.slice(4)).toEqual(['a3', 'b3', 'c1', 'a4']);
  });

  test('a heavy read has a smaller share, and light ones of its owner overtake it', async () => {
    const readers = new Readers();
    await readers.ask('heavy 1', { owner: 'a', isHeavy: true });
    const second = readers.ask('heavy 2', { owner: 'a', isHeavy: true });
    await readers.ask('light', { owner: 'A' });
    expect(readers.admitted).toEqual(['heavy 1', 'light']);
    await readers.end('heavy 1');
    await second;
  });

  test('waiting is bounded in number and in time, and refused with what to do', async () => {
    const readers = new Readers();
    for (const i of [1, 2]) await readers.ask(`${i}`, { owner: 'a' });
    const waiting = Array.from({ length: 5 }, (_, i) => readers.ask(`waits ${i}`, { owner: 'a' }));
    expect(readers.ask('one too many', { owner: 'a' })).rejects.toThrow(/Too many reads of a .* try again/);
    const outcomes = await Promise.allSettled(waiting);
    expect(outcomes.every((outcome) => outcome.status === 'rejected' && outcome.reason instanceof ReadRefused)).toBe(
      true,
    );
    await readers.end('1');
    await readers.ask('later', { owner: 'a' });
  });

  test('who leaves is not waited for, and does not take a turn', async () => {
    const readers = new Readers();
    for (const i of [1, 2]) await readers.ask(`${i}`, { owner: 'a' });
    const gone = new AbortController();
    const leaving = readers.ask('gone', { owner: 'a', signal: gone.signal });
    const next = readers.ask('next', { owner: 'a' });
    gone.abort(new Error('the client has gone'));
    expect(leaving).rejects.toThrow('the client has gone');
    await readers.end('1');
    await next;
    expect(readers.admitted).toEqual(['1', '2', 'next']);
  });
});
