/** Loops in the background: how often they run, and how they stop. */
import { describe, expect, test } from 'bun:test';
import { StoreUnavailable } from '../../src/errors.ts';
import { createLogger } from '../../src/observability/log.ts';
import { Loop, type LoopOptions } from '../../workers/loop.ts';
import { until } from '../support/patience.ts';

const log = createLogger('silent');

/** A loop whose runs end when the test says so. */
class Stepped {
  runs = 0;
  atOnce = 0;
  atOnceMax = 0;
  readonly startedAt: number[] = [];
  readonly loop: Loop;
  #open: PromiseWithResolvers<void>[] = [];

  constructor(options: Partial<LoopOptions> = {}) {
    this.loop = new Loop({ name: 'test', log, run: () => this.#run(), retryMs: 10_000, ...options });
  }

  async #run(): Promise<void> {
    this.startedAt.push(performance.now());
    this.runs++;
    this.atOnceMax = Math.max(this.atOnceMax, ++this.atOnce);
    const open = Promise.withResolvers<void>();
    this.#open.push(open);
    await open.promise.finally(() => this.atOnce--);
  }

  /** Ends the current run and lets the loop take note. */
  async end(error?: Error): Promise<void> {
    const open = this.#open.shift();
    if (error) open?.reject(error);
    else open?.resolve();
    await Bun.sleep(1);
  }

  async until(runs: number): Promise<void> {
    await until(() => this.runs >= runs);
  }
}

describe('a loop', () => {
  test('runs once at a time however often it is woken, and once more for what woke it meanwhile', async () => {
    const stepped = new Stepped();
    for (let i = 0; i < 5; i++) stepped.loop.wake();
    expect(stepped.runs).toBe(1);
    await stepped.end();
    await stepped.until(2);
    await stepped.end();
    await Bun.sleep(20);
    expect([stepped.runs, stepped.atOnceMax]).toEqual([2, 1]);
  });

  test('repeats after its interval, counted from the end of the run before', async () => {
    const stepped = new Stepped({ everyMs: 30 });
    stepped.loop.wake();
    await Bun.sleep(60);
    expect(stepped.runs).toBe(1);
    const endedAt = performance.now();
    await stepped.end();
    await stepped.until(2);
    expect((stepped.startedAt[1] ?? 0) - endedAt).toBeGreaterThanOrEqual(29);
    void stepped.loop.stop();
    await stepped.end();
  });

  test('stopping waits for the current run, and nothing runs after it', async () => {
    const stepped = new Stepped({ everyMs: 1 });
    stepped.loop.wake();
    stepped.loop.wake();
    let isStopped = false;
    const stopped = stepped.loop.stop().then(() => {
      isStopped = true;
    });
    await Bun.sleep(10);
    expect(isStopped).toBe(false);
    await stepped.end();
    await stopped;
    stepped.loop.wake();
    await Bun.sleep(10);
    expect(stepped.runs).toBe(1);
  });

  test('pauses between two runs, even when woken', async () => {
    const stepped = new Stepped({ pauseMs: () => 30 });
    stepped.loop.wake();
    stepped.loop.wake();
    const endedAt = performance.now();
    await stepped.end();
    stepped.loop.wake();
    await stepped.until(2);
    expect((stepped.startedAt[1] ?? 0) - endedAt).toBeGreaterThanOrEqual(29);
    await stepped.end();
  });

  test('waits twice as long after each failure up to the most, and a wake does not shorten it', async () => {
    const starts: number[] = [];
    const loop: Loop = new Loop({
      name: 'test',
      log,
      retryMs: 20,
      retryMsMax: 60,
      run: async () => {
        starts.push(performance.now());
        setTimeout(loop.wake);
        if (starts.length <= 8) throw new StoreUnavailable('postgres');
      },
    });
    loop.wake();
    await until(() => starts.length >= 9);
    await loop.stop();
    const waits = starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
    for (const [i, atLeast] of [19, 39, ...Array(6).fill(59)].entries())
      expect(waits[i]).toBeGreaterThanOrEqual(atLeast);
    // Without a limit it would be 160 ms; a busy machine adds to some of them.
    expect(Math.min(...waits.slice(3))).toBeLessThan(119);
  });

  test('is idle when what woke it is done, after failures too, and once it is stopped', async () => {
    const stepped = new Stepped({ retryMs: 5 });
    await stepped.loop.idle();
    stepped.loop.wake();
    let isIdle = false;
    const idle = stepped.loop.idle().then(() => {
      isIdle = true;
    });
    await stepped.end(new Error('failed'));
    await stepped.until(2);
    expect(isIdle).toBe(false);
    await stepped.end();
    await idle;

    stepped.loop.wake();
    await stepped.until(3);
    const alsoIdle = stepped.loop.idle();
    void stepped.loop.stop();
    await stepped.end();
    await alsoIdle;
  });
});
