/** The parser of Bazel's build events. */
import { WrongFormat } from '../errors.ts';
import type { ReportFormat } from '../format.ts';
import { readJsonLines } from '../lines.ts';
import { isOtherJson } from '../other-json.ts';
import { eventOf } from './events.ts';
import { BazelReport } from './report.ts';

const EVENT = /^\s{0,20}\{\s{0,20}"id"\s{0,20}:/;

export const readBazel: ReportFormat['parse'] = async (body, report) => {
  const bazel = new BazelReport(report);
  const { eventCount, cutAtLine } = await readJsonLines(
    body,
    report,
    (head) => EVENT.test(head),
    (value) => {
      const event = eventOf(value);
      if (event) bazel.read(event);
      return event !== null;
    },
  );
  if (eventCount === 0)
    throw new WrongFormat('The body is not a Bazel build event report: it holds no event, one in each line.');
  bazel.finish(cutAtLine);
};

export const isOtherBazel = (body: Uint8Array): boolean => isOtherJson(body, (value) => eventOf(value) !== null);
