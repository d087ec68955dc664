/** The report of Playwright's JSON reporter. */
import type { ReportFormat } from '../format.ts';

export const playwright: ReportFormat = {
  name: 'playwright',
  title: 'Playwright JSON',
  description: 'Playwright writes them with `npx playwright test --reporter=json`.',
  globs: ['**/*.json'],
  mediaTypes: ['application/json'],
  example: {
    file: 'results.json',
    text: JSON.stringify({
      config: { version: '1.65.1' },
      suites: [
        {
          title: 'cart.spec.ts',
          specs: [
            {
              title: 'adds an item',
              file: 'cart.spec.ts',
              tests: [
                {
                  projectName: 'chromium',
                  expectedStatus: 'passed',
                  status: 'expected',
                  results: [{ status: 'passed', duration: 12, startTime: '2026-11-21T09:30:00.000Z' }],
                },
              ],
            },
          ],
        },
      ],
      errors: [],
    }),
  },
  isOther: async (body) => (await import('./read.ts')).isOtherPlaywright(body),
  parse: async (body, report) => (await import('./read.ts')).readPlaywright(body, report),
};
