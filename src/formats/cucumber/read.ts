/** The parser of Cucumber's reports: an array is the older JSON, anything else the messages. */
import { WrongFormat } from '../errors.ts';
import type { ReportFormat } from '../format.ts';
import { readJson } from '../json.ts';
import { readJsonLines } from '../lines.ts';
import { isOtherJson } from '../other-json.ts';
import { asUtf8 } from '../utf8.ts';
import { FeaturesVisitor, isFeature } from './features.ts';
import { MessageReport } from './message-report.ts';
import { isMessage, isWanted, messageOf } from './messages.ts';

export const readCucumber: ReportFormat['parse'] = async (body, report) => {
  const utf8 = asUtf8(body, report);
  if (isArray(utf8)) {
    const visitor = new FeaturesVisitor(report);
    const breakage = await readJson(utf8, visitor);
    visitor.finish(breakage !== null);
    if (!visitor.isCucumber)
      throw new WrongFormat('The body is not a Cucumber report: it is JSON, and not a list of features.');
    if (breakage !== null) report.warnOfBreak(breakage);
    return;
  }
  const messages = new MessageReport(report);
  const { eventCount, cutAtLine } = await readJsonLines(utf8, report, isWanted, (value) => {
    const message = messageOf(value);
    if (message) messages.read(message);
    return message !== null;
  });
  if (eventCount === 0)
    throw new WrongFormat('The body is not a Cucumber report: it holds neither messages nor a list of features.');
  messages.finish(cutAtLine);
};

const SPACES: ReadonlySet<number | undefined> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const OPEN_BRACKET = 0x5b;

function isArray(body: Uint8Array): boolean {
  let at = 0;
  while (SPACES.has(body[at])) at++;
  return body[at] === OPEN_BRACKET;
}

export const isOtherCucumber = (body: Uint8Array): boolean =>
  isOtherJson(body, (value) => isMessage(value) || (Array.isArray(value) && isFeature(value[0])));
