/** Causes of failures: what must hold in whatever order failures arrive, whatever they name, and however long they are. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { FailedInRun } from '../../src/domain/cause-node.ts';
import { ownFrames, signatureOf, skeletonOf } from '../../src/domain/cause-signature.ts';
import { type CauseNode, findCauses as findAll, type KnownNode } from '../../src/domain/causes.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { RULES, score } from '../simulation/cause-score.ts';
import { makeCauseWorld, REPOSITORY } from '../simulation/cause-worlds.ts';

const findCauses = (...of: Parameters<typeof findAll<FailedInRun>>): CauseNode[] => findAll(...of).nodes;
const RUNS = { numRuns: 8 };
/** Only its seed is printed. */
const world = fc.record({ seed: fc.nat(1e6), hasStacks: fc.boolean() });
const failuresOf = ({ seed, hasStacks }: { seed: number; hasStacks: boolean }) => makeCauseWorld(seed, 1, hasStacks);

const testId = (test: number): string => `00000000-0000-4000-8000-${String(test).padStart(12, '0')}`;
const failed = (test: number, message: string, run: string, at: number, frames: string[] = []): FailedInRun => ({
  signature: signatureOf(
    REPOSITORY,
    testId(test),
    message.startsWith('assert') ? 'AssertionError' : 'AppError',
    message,
  ),
  ...{ testId: testId(test), run, failedAt: at, frames, file: '' },
});
/** A history of other failures, because in the first week nothing breaks out. */
const before = [failed(999, 'an old fault of ledger rounding', 'old', 0)];
const causeOf = (nodes: readonly CauseNode[]) =>
  new Map(nodes.flatMap((node) => node.failures.map((failure) => [failure, node.causeId] as const)));
const asKnown = (nodes: readonly CauseNode[]): KnownNode[] =>
  nodes.map(({ id, causeId, firstAt, signature }) => ({ id, causeId, firstAt, signatureId: signature.id }));
/** Whether one of them was away for two weeks. */
const hasGap = (nodes: readonly CauseNode[]): boolean =>
  nodes.some(({ failures }) => {
    const times = failures.map(({ failedAt }) => failedAt).sort((a, b) => a - b);
    return times.slice(1).some((at, i) => at - (times[i] ?? at) > 14 * DAY_MS);
  });
const described = (nodes: readonly CauseNode[]): string[] =>
  nodes.map(({ id, causeId, failures }) => `${id} ${causeId} ${failures.length}`).sort();

test('the order of failures changes neither causes nor ids', () => {
  fc.assert(
    fc.property(world, fc.nat(1e6), (made, seed) => {
      const failures = failuresOf(made);
      const mixed = failures
        .map((failure, i) => ({ failure, at: (i * 7_919 + seed) % failures.length }))
        .sort((a, b) => a.at - b.at)
        .map(({ failure }) => failure);
      expect(described(findCauses(REPOSITORY, mixed))).toEqual(described(findCauses(REPOSITORY, failures)));
    }),
    RUNS,
  );
});

test('failures of one signature within two weeks have one cause', () => {
  fc.assert(
    fc.property(world, (made) => {
      const failures = failuresOf(made);
      const causes = causeOf(findCauses(REPOSITORY, failures));
      for (const same of Map.groupBy(failures, ({ signature }) => signature.id).values()) {
        const ordered = same.toSorted((a, b) => a.failedAt - b.failedAt);
        ordered.slice(1).forEach((failure, i) => {
          const last = ordered[i];
          if (last && failure.failedAt - last.failedAt <= 13 * DAY_MS)
            expect(causes.get(failure)).toBe(causes.get(last));
        });
      }
    }),
    RUNS,
  );
});

test('what runs later bring adds failures and joins causes, and no cause loses its id', () => {
  fc.assert(
    fc.property(world, fc.integer({ min: 10, max: 80 }), (made, day) => {
      const failures = failuresOf(made);
      const early = findCauses(
        REPOSITORY,
        failures.filter(({ failedAt }) => failedAt < day * DAY_MS),
      );
      const later = findCauses(REPOSITORY, failures, asKnown(early));
      const [was, is] = [
        new Map(early.map((node) => [node.id, node.causeId])),
        new Map(later.map((node) => [node.id, node.causeId])),
      ];
      for (const [id, cause] of was) {
        expect(is.has(id)).toBe(true);
        // It leads to what it has become.
        expect(is.get(cause)).toBe(is.get(id));
      }
    }),
    RUNS,
  );
});

test('what is known already changes nothing when it is derived again', () => {
  fc.assert(
    fc.property(world, (made) => {
      const failures = failuresOf(made);
      const nodes = findCauses(REPOSITORY, failures);
      expect(described(findCauses(REPOSITORY, failures, asKnown(nodes)))).toEqual(described(nodes));
    }),
    RUNS,
  );
});

test('a cause stays one, and keeps its id, when its first failures have left with the node that names it', () => {
  fc.assert(
    fc.property(world, fc.integer({ min: 5, max: 85 }), (made, day) => {
      const failures = failuresOf(made);
      const all = findCauses(REPOSITORY, failures);
      const left = findCauses(
        REPOSITORY,
        failures.filter(({ failedAt }) => failedAt >= day * DAY_MS),
        asKnown(all),
      );
      const [was, is] = [causeOf(all), causeOf(left)];
      const returned = new Set(
        [...Map.groupBy(all, ({ signature }) => signature.id)].flatMap(([id, nodes]) =>
          nodes.length > 1 || hasGap(nodes) ? [id] : [],
        ),
      );
      const kept = [...is].filter(([{ signature }]) => !returned.has(signature.id));
      const became = Map.groupBy(kept, ([failure]) => was.get(failure) ?? '');
      const consists = Map.groupBy(kept, ([, cause]) => cause);
      for (const [cause, members] of became) {
        const now = new Set(members.map(([, id]) => id));
        expect(now.size).toBe(1);
        // What was forgotten may let it be joined to another; otherwise it keeps its name.
        const [id = ''] = now;
        if (new Set(consists.get(id)?.map(([failure]) => was.get(failure))).size === 1) expect(id).toBe(cause);
      }
    }),
    RUNS,
  );
});

test.each(['causes', 'causes, without stacks'])('%s reach the published goals on a world', (name) => {
  const { rule, hasStacks } = RULES[name] ?? RULES.causes ?? { rule: () => new Map(), hasStacks: false };
  const { both, named, planted } = score(makeCauseWorld(31, 4, hasStacks), rule);
  expect(both / named).toBeGreaterThan(0.95);
  expect(both / planted).toBeGreaterThan(0.8);
});

test('a message that says nothing alone joins no two tests', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(500), { minLength: 2, maxLength: 40 }), (tests) => {
      const at = 20 * DAY_MS;
      const nodes = findCauses(REPOSITORY, [...before, ...tests.map((one) => failed(one, 'assert False', 'run', at))]);
      expect(new Set(nodes.map(({ causeId }) => causeId)).size).toBe(tests.length + 1);
    }),
  );
});

test('the names in the messages of a burst change nothing', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z]{4,12}$/), { minLength: 5, maxLength: 30 }),
      fc.boolean(),
      (names, isPath) => {
        const failures = names.map((name, i) =>
          failed(
            i,
            `cannot reach ${isPath ? `/srv/${name}/socket` : `'${name}'`} port closed by peer`,
            'run',
            20 * DAY_MS,
          ),
        );
        const nodes = findCauses(REPOSITORY, [...before, ...failures]);
        expect(new Set(nodes.slice(1).map(({ causeId }) => causeId)).size).toBe(1);
      },
    ),
  );
});

test('fewer than five tests of a run are no burst', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), (count) => {
      const failures = Array.from({ length: count }, (_, i) =>
        failed(i, `cannot reach '${'abcd'[i]}host' port closed by peer`, 'run', 20 * DAY_MS, ['connect net.py']),
      );
      expect(new Set(findCauses(REPOSITORY, [...before, ...failures]).map(({ causeId }) => causeId)).size).toBe(
        count + 1,
      );
    }),
  );
});

test('a kind that fails in as many tests of every run joins nothing', () => {
  fc.assert(
    fc.property(fc.integer({ min: 5, max: 20 }), (count) => {
      const failures = Array.from({ length: 40 }, (_, run) =>
        Array.from({ length: count }, (_unused, i) =>
          failed(
            i,
            `row '${'abcdefghijklmnopqrstuvwxyz'[run % 26]}${run > 25 ? 'z' : ''}${'abcdefghijklmnopqrstu'[i]}' lost by replica`,
            `run ${run}`,
            run * DAY_MS + HOUR_MS,
          ),
        ),
      ).flat();
      const nodes = findCauses(REPOSITORY, [...before, ...failures]);
      expect(new Set(nodes.map(({ causeId }) => causeId)).size).toBe(nodes.length);
    }),
  );
});

test('hostile messages and stacks cost no more than others of their length', () => {
  const texts = ["'", '"', '\\', '<', '<n', '/', 'a.', '=', '`', '(', 'at (', 'File "'].map((piece) =>
    piece.repeat(8_000),
  );
  const startedAt = performance.now();
  for (const text of texts) {
    signatureOf(REPOSITORY, testId(1), text, text);
    skeletonOf(text);
    ownFrames(`${text}\n`.repeat(10));
    ownFrames(`at ${text}`);
  }
  // Milliseconds if linear, minutes if not.
  expect(performance.now() - startedAt).toBeLessThan(20_000);
});

test('frames of the repository are found in stacks of several languages, the innermost first', () => {
  expect(
    ownFrames(`Traceback (most recent call last):
  File "/srv/tests/test_cart.py", line 12, in test_totals
  File "/srv/shop/cart.py", line 40, in total
  File "/srv/shop/tax.py", line 7, in rate_of
  File "/usr/lib/python3.13/site-packages/requests/api.py", line 3, in get
requests.ConnectionError`),
  ).toEqual(['rate_of tax.py', 'total cart.py']);
  expect(
    ownFrames(`Error: no
    at rateOf (/srv/src/tax.ts:7:3)
    at total (file:///srv/src/cart.ts:40:1)
    at /srv/src/cart.test.ts:12:5
    at run (node:internal/process/task_queues:95:5)`),
  ).toEqual(['rateOf tax.ts', 'total cart.ts']);
  expect(
    ownFrames(`java.lang.IllegalStateException: no
\tat com.acme.shop.Tax.rateOf(Tax.java:7)
\tat com.acme.shop.CartTest.testTotals(CartTest.java:12)
\tat org.junit.runners.ParentRunner.run(ParentRunner.java:3)`),
  ).toEqual(['com.acme.shop.Tax.rateOf Tax.java']);
});
