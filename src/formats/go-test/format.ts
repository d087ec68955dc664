/** The output of `go test -json`. */
import type { ReportFormat } from '../format.ts';

export const goTest: ReportFormat = {
  name: 'go-test',
  title: '`go test -json`',
  description: 'Go writes them with `go test -json ./...`; `gotestsum --jsonfile` does too.',
  globs: ['**/*.json', '**/*.jsonl'],
  mediaTypes: ['application/x-ndjson', 'application/jsonl', 'application/json'],
  example: {
    file: 'go-test.json',
    text: [
      { Time: '2026-11-21T09:30:00Z', Action: 'run', Package: 'example.com/shop/cart', Test: 'TestAdd' },
      {
        Time: '2026-11-21T09:30:01Z',
        Action: 'pass',
        Package: 'example.com/shop/cart',
        Test: 'TestAdd',
        Elapsed: 0.01,
      },
      { Time: '2026-11-21T09:30:01Z', Action: 'pass', Package: 'example.com/shop/cart', Elapsed: 0.2 },
    ]
      .map((event) => `${JSON.stringify(event)}\n`)
      .join(''),
  },
  isOther: async (body) => (await import('./read.ts')).isOtherGoTest(body),
  parse: async (body, report) => (await import('./read.ts')).readGoTest(body, report),
};
