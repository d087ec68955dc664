/** What is stored of an identity is read back as it was. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';

import { readSummary, writeSummary } from '../../src/postgres/identity-summary.ts';
import { summaryOfAll } from '../support/summary.ts';

const execution = fc.record({
  executionId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  status: fc.constantFrom('passed' as const, 'failed' as const, 'skipped' as const),
  finishedAt: fc.integer({ min: 1_750_000_000_000, max: 1_760_000_000_000 }),
  framework: fc.string(),
  frameworkVersion: fc.string(),
  language: fc.string(),
  filepath: fc.string({ unit: 'binary' }),
  function: fc.string(),
});

test('a summary survives being stored, whatever it counted', () => {
  fc.assert(
    fc.property(fc.array(execution, { maxLength: 40 }), fc.nat(), (executions, checkpointAt) => {
      const summary = summaryOfAll(executions);
      expect(readSummary(writeSummary({ summary, checkpointAt }))).toEqual({ summary, checkpointAt });
    }),
  );
});
