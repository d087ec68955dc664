/** The parser of TAP. */
import { LINE_BYTES_MAX } from '../../domain/limits.ts';
import { WrongFormat } from '../errors.ts';
import type { ReportFormat } from '../format.ts';
import { EventCount, eachLine } from '../lines.ts';
import { asUtf8 } from '../utf8.ts';
import { TapReport } from './report.ts';

export const readTap: ReportFormat['parse'] = async (body, report) => {
  const tap = new TapReport(report);
  const lines = new EventCount(report);
  await eachLine(body, report, ({ bytes, start, end, number, isWhole }) => {
    if (start === end && !tap.isInBlock) return;
    lines.add();
    tap.read(bytes.toString('utf8', start, Math.min(end, start + LINE_BYTES_MAX)).trimEnd(), number, isWhole);
  });
  if (!tap.isTap)
    throw new WrongFormat('The body is not a TAP report: it has neither a version, a plan nor a test point.');
  tap.finish();
};

const TAP_LINE = /^(?:TAP version \d|1\.\.\d|(?:not )?ok(?: |$)|Bail out!)/m;

export function isOtherTap(body: Uint8Array): boolean {
  const text = new TextDecoder().decode(asUtf8(body, { noticeReplaced: () => {} }));
  return text.trim() !== '' && !TAP_LINE.test(text);
}
