/** The parser of `go test -json`. */
import { WrongFormat } from '../errors.ts';
import type { ReportFormat } from '../format.ts';
import { isOtherJson } from '../other-json.ts';
import { isEvent, readEvents } from './events.ts';
import { GoReport } from './report.ts';

export const readGoTest: ReportFormat['parse'] = async (body, report) => {
  const go = new GoReport(report);
  const { eventCount, cutAtLine } = await readEvents(body, (event) => go.read(event), report);
  if (eventCount === 0)
    throw new WrongFormat('The body is not a `go test -json` report: it holds no event. Was -json left out?');
  go.finish(cutAtLine);
};

export const isOtherGoTest = (body: Uint8Array): boolean => isOtherJson(body, isEvent);
