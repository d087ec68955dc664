/** The report of Playwright's JSON reporter. */
import { InvalidUpload } from '../errors.ts';
import type { ReportFormat } from '../format.ts';
import { readJson } from '../json.ts';
import { asUtf8, NEWLINE } from '../utf8.ts';
import { PlaywrightVisitor } from './visitor.ts';

const TITLE = 'Playwright JSON';

export const playwright: ReportFormat = {
  name: 'playwright',
  title: TITLE,
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
  parse: async (body, report) => {
    const visitor = new PlaywrightVisitor(report);
    const breakage = await readJson(withoutPreamble(asUtf8(body, report)), visitor);
    if (!visitor.isPlaywright)
      throw new InvalidUpload(
        `The body is not a ${TITLE} report: ${breakage === null ? 'it has no suites' : `it ${breakage}`}.`,
      );
    if (breakage !== null) report.warnOfBreak(breakage);
  },
};

/** npm and the configuration of the tests may print to standard output before the report. */
function withoutPreamble(body: Uint8Array): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (bytes[0] === OPEN_BRACE) return body;
  const start = bytes.indexOf(Buffer.of(NEWLINE, OPEN_BRACE));
  return start < 0 ? body : body.subarray(start + 1);
}

const OPEN_BRACE = 0x7b;
