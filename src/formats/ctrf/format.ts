/** The Common Test Report Format. */
import type { ReportFormat } from '../format.ts';

export const ctrf: ReportFormat = {
  name: 'ctrf',
  title: 'CTRF JSON',
  description: 'Reporters for many test runners write them: https://ctrf.io lists those.',
  globs: ['**/*.json'],
  mediaTypes: ['application/json'],
  example: {
    file: 'ctrf-report.json',
    text: JSON.stringify({
      reportFormat: 'CTRF',
      specVersion: '1.0.0',
      results: {
        tool: { name: 'jest' },
        summary: {
          ...{ tests: 1, passed: 1, failed: 0, pending: 0, skipped: 0, other: 0 },
          ...{ start: 1795253400000, stop: 1795253401000 },
        },
        tests: [{ name: 'Cart adds an item', status: 'passed', duration: 12, suite: ['cart.test.js', 'Cart'] }],
      },
    }),
  },
  isOther: async (body) => (await import('./read.ts')).isOtherCtrf(body),
  parse: async (body, report) => (await import('./read.ts')).readCtrf(body, report),
};
