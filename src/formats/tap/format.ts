/** TAP, the Test Anything Protocol. */
import type { ReportFormat } from '../format.ts';

export const tap: ReportFormat = {
  name: 'tap',
  title: 'TAP',
  description:
    'node-tap, tape, `node --test --test-reporter=tap`, Mocha, bats and Test::More write them. Versions 12 to 14, with subtests.',
  globs: ['**/*.tap'],
  mediaTypes: ['text/plain', 'text/x-tap'],
  example: {
    file: 'tests.tap',
    text: 'TAP version 14\nok 1 - adds an item\n  ---\n  duration_ms: 12\n  ...\n1..1\n',
  },
  isOther: async (body) => (await import('./read.ts')).isOtherTap(body),
  parse: async (body, report) => (await import('./read.ts')).readTap(body, report),
};
