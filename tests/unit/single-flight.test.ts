/** Identical reads at the same time: which share a run, and when a run is aborted. */
import { expect, test } from 'bun:test';
import { SingleFlight } from '../../src/http/single-flight.ts';

/** Runs that end when the test ends them. */
function flights() {
  const single = new SingleFlight<number>();
  const begun: { signal: AbortSignal; end: (answer: number) => void; fail: (error: Error) => void }[] = [];
  const ask = (caller = new AbortController().signal): Promise<number> =>
    single.run(
      'key',
      (signal) => {
        const { promise, resolve, reject } = Promise.withResolvers<number>();
        begun.push({ signal, end: resolve, fail: reject });
        return promise;
      },
      caller,
    );
  const run = (index: number) => {
    const found = begun[index];
    if (!found) throw new Error(`run ${index} has not begun`);
    return found;
  };
  return { ask, begun, run };
}

test('callers that ask during a run share the next one, which begins when the first has ended or failed', async () => {
  const { ask, begun, run } = flights();
  const first = ask();
  const others = [ask(), ask()];
  expect(begun.length).toBe(1);
  run(0).end(1);
  expect(await first).toBe(1);
  expect(begun.length).toBe(2);
  const late = ask();
  run(1).fail(new Error('broken'));
  expect(await Promise.all(others.map((other) => other.catch(({ message }) => message)))).toEqual(['broken', 'broken']);
  run(2).end(3);
  expect(await late).toBe(3);
  expect(begun.length).toBe(3);
  void ask();
  expect(begun.length).toBe(4);
});

test('a run is aborted when the last caller that waits for it has gone, and not before', async () => {
  const { ask, run } = flights();
  const first = ask();
  const callers = [new AbortController(), new AbortController()];
  const waiting = callers.map(({ signal }) => ask(signal));
  callers[0]?.abort();
  run(0).end(1);
  await first;
  expect(run(1).signal.aborted).toBe(false);
  callers[1]?.abort();
  expect(run(1).signal.aborted).toBe(true);
  expect(run(0).signal.aborted).toBe(false);
  // A caller that asks now shares nothing with the aborted run.
  const next = ask();
  run(1).fail(new Error('given up'));
  await Promise.all(waiting.map((one) => one.catch(() => {})));
  expect(run(2).signal.aborted).toBe(false);
  run(2).end(7);
  expect(await next).toBe(7);
});

test('a run that all callers left before it begins is aborted from the start', async () => {
  const { ask, run } = flights();
  const first = ask();
  const gone = new AbortController();
  const left = ask(gone.signal);
  gone.abort();
  run(0).end(1);
  await first;
  expect(run(1).signal.aborted).toBe(true);
  run(1).end(2);
  await left;
});
