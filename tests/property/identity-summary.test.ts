/** What is stored of an identity is read back as it was. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';

import { readDays, readSummary, writeSummary } from '../../src/postgres/identity-summary.ts';
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
      const text = writeSummary({ summary, checkpointAt });
      expect(readSummary(text)).toEqual({ summary, checkpointAt });
      expect(readDays(text)).toEqual(summary.days);
    }),
  );
});

test('a summary as it was written before is read', () => {
  const text =
    '[1789290965175,[202608,2,202609,14],[20696,0,1,0,0,2,0],1794750500000,1789290965175,' +
    '[1794750574755,"13519901718332081139","skipped","vitest","3.2.4","javascript","src/a.test.ts","does"]]';
  const summary = {
    months: [202608, 2, 202609, 14],
    days: [20696, 0, 1, 0, 0, 2, 0],
    lastSuccessAt: 1_794_750_500_000,
    lastFailureAt: 1_789_290_965_175,
    newest: {
      finishedAt: 1_794_750_574_755,
      executionId: 13_519_901_718_332_081_139n,
      status: 'skipped' as const,
      framework: 'vitest',
      frameworkVersion: '3.2.4',
      language: 'javascript',
      filepath: 'src/a.test.ts',
      function: 'does',
    },
  };
  const stored = { summary, checkpointAt: 1_789_290_965_175 };
  expect(readSummary(text)).toEqual(stored);
  expect(readDays(text)).toEqual(summary.days);
  expect(readSummary(writeSummary(stored))).toEqual(stored);
});

test.each([
  '[]',
  '[0,[],0,[],null,null,[1,"1",9,"","","","",""]]',
  '[0,[],[],null,null,[1,"1","gone","","","","",""]]',
])('a text that no version wrote is refused: %s', (text) => {
  expect(() => readSummary(text)).toThrow(TypeError);
});
