/** Reports of Cucumber: its messages, and the older JSON, which behave writes too. */
import type { ReportFormat } from '../format.ts';

const STARTED = { seconds: 1_795_253_400, nanos: 0 };

export const cucumber: ReportFormat = {
  name: 'cucumber',
  title: 'Cucumber',
  description:
    'Cucumber writes them with `--format message:cucumber.ndjson` (Java: `--plugin`), and in older versions with `--format json:cucumber.json`; `behave -f json` does too. Messages tell attempts and the rows of outlines apart, JSON does not.',
  globs: ['**/*.ndjson', '**/*.json'],
  mediaTypes: ['application/x-ndjson', 'application/jsonl', 'application/json'],
  example: {
    file: 'cucumber.ndjson',
    text: [
      {
        gherkinDocument: {
          uri: 'features/cart.feature',
          feature: { name: 'Cart', children: [{ scenario: { id: 's1', name: 'Adds an item', examples: [] } }] },
        },
      },
      { pickle: { id: 'p1', uri: 'features/cart.feature', name: 'Adds an item', astNodeIds: ['s1'], steps: [] } },
      { testCase: { id: 'c1', pickleId: 'p1', testSteps: [{ id: 't1' }] } },
      { testCaseStarted: { id: 'r1', testCaseId: 'c1', attempt: 0, timestamp: STARTED } },
      { testStepFinished: { testCaseStartedId: 'r1', testStepId: 't1', testStepResult: { status: 'PASSED' } } },
      {
        testCaseFinished: {
          testCaseStartedId: 'r1',
          timestamp: { ...STARTED, nanos: 12_000_000 },
          willBeRetried: false,
        },
      },
      { testRunFinished: { success: true } },
    ]
      .map((message) => `${JSON.stringify(message)}\n`)
      .join(''),
  },
  isOther: async (body) => (await import('./read.ts')).isOtherCucumber(body),
  parse: async (body, report) => (await import('./read.ts')).readCucumber(body, report),
};
