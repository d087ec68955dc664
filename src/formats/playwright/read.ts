/** The parser of the report of Playwright's JSON reporter. */
import { InvalidUpload } from '../errors.ts';
import type { ReportFormat } from '../format.ts';
import { readJson } from '../json.ts';
import { asUtf8, NEWLINE } from '../utf8.ts';
import { PlaywrightVisitor } from './visitor.ts';

export const readPlaywright: ReportFormat['parse'] = async (body, report) => {
  const visitor = new PlaywrightVisitor(report);
  const breakage = await readJson(withoutPreamble(asUtf8(body, report)), visitor);
  if (!visitor.isPlaywright)
    throw new InvalidUpload(
      `The body is not a Playwright JSON report: ${breakage === null ? 'it has no suites' : `it ${breakage}`}.`,
    );
  if (breakage !== null) report.warnOfBreak(breakage);
};

/** npm and the configuration of the tests may print to standard output before the report. */
function withoutPreamble(body: Uint8Array): Uint8Array {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  if (bytes[0] === OPEN_BRACE) return body;
  const start = bytes.indexOf(Buffer.of(NEWLINE, OPEN_BRACE));
  return start < 0 ? body : body.subarray(start + 1);
}

const OPEN_BRACE = 0x7b;
