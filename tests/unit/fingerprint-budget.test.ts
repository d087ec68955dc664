/** Costly messages slow their owner's groups, not the uploads of others. */
import { expect, test } from 'bun:test';
import { normaliseMessage } from '../../src/domain/fingerprint.ts';
import { inSlices } from '../../src/in-slices.ts';
import { preparingChunk } from '../../src/ledger/prepare.ts';
import { FingerprintBudget } from '../../workers/fingerprint-budget.ts';
import { TEST_NOW } from '../support/clock.ts';
import { makeJob } from '../support/jobs.ts';

/** A budget whose fingerprints take so many milliseconds each. */
function budgetOf(milliseconds: number) {
  const clock = { now: 0, made: 0 };
  const normalise = (message: string): string => {
    clock.now += milliseconds;
    clock.made++;
    return normaliseMessage(message);
  };
  return { clock, budget: new FingerprintBudget({ now: () => clock.now, normalise }) };
}

test('an owner whose messages take long gets brief fingerprints, and another one whole ones', () => {
  const { clock, budget } = budgetOf(50);
  const costly = budget.of('Costly');
  for (let i = 0; i < 1_000; i++) costly(`request ${'x'.repeat(i)} took 12 ms`);
  // A second at once, and a tenth of the time that passes.
  expect(clock.made).toBeLessThan(30);
  expect(costly('expected  17 rows, got 18')).toBe('expected <n> rows, got <n>');
  expect(budget.of('costly')('expected  19 rows, got 18')).toBe('expected <n> rows, got <n>');
  expect(budget.of('modest')('expected 17 rows, got 18')).toBe('expected <n1> rows, got <n2>');
  clock.now += 10_000;
  expect(budget.of('costly')('expected 17 rows, got 20')).toBe('expected <n1> rows, got <n2>');
});

test('a message that fails again and again is worked out once', () => {
  const { clock, budget } = budgetOf(50);
  const fingerprintOf = budget.of('acme');
  for (let i = 0; i < 1_000; i++) fingerprintOf('timed out');
  expect(clock.made).toBe(1);
});

test('ordinary messages never need brief fingerprints', () => {
  const { clock, budget } = budgetOf(0.03);
  const fingerprintOf = budget.of('acme');
  for (let i = 0; i < 25_000; i++) fingerprintOf(`expected ${i} to equal 3`);
  expect(clock.made).toBe(25_000);
});

test('while a chunk is prepared, the process does what else waits', async () => {
  const executions = Array.from({ length: 200 }, (_, i) => ({
    name: `test ${i}`,
    status: 'failed' as const,
    failures: [{ message: `no ${i}` }],
  }));
  const job = makeJob({ repository: { owner: 'acme', name: 'shop' }, executions, receivedAt: TEST_NOW });
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const fingerprintOf = (message: string): string => {
    const until = performance.now() + 1;
    while (performance.now() < until);
    return message;
  };
  const options = { repositoryId: crypto.randomUUID(), defaultBranch: 'main', now: TEST_NOW, retentionDays: 90 };
  const chunk = await inSlices(preparingChunk(job, { ...options, fingerprintOf }));
  clearInterval(timer);
  expect(chunk.executions).toHaveLength(200);
  expect(turns).toBeGreaterThan(5);
});
