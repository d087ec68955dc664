/** The output of `go test -json`. */
import { InvalidUpload } from '../errors.ts';
import type { ReportFormat } from '../format.ts';
import { readEvents } from './events.ts';
import { GoReport } from './report.ts';

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
  parse: async (body, report) => {
    const go = new GoReport(report);
    const { eventCount, cutAtLine } = await readEvents(body, (event) => go.read(event), report);
    if (eventCount === 0)
      throw new InvalidUpload('The body is not a `go test -json` report: it holds no event. Was -json left out?');
    go.finish(cutAtLine);
  },
};
