/** The parser of TRX. */
import type { ReportFormat } from '../format.ts';
import { isOtherXml } from '../other-xml.ts';
import { readXml } from '../xml.ts';
import { TrxHandler } from './handler.ts';

const TRX = { title: 'TRX', roots: ['TestRun'], nameAttributes: ['testName', 'className', 'name'] } as const;

export const readTrx: ReportFormat['parse'] = async (body, report) => {
  const handler = new TrxHandler(report);
  const breakage = await readXml(body, TRX, handler);
  handler.finish(breakage);
};

export const isOtherTrx = (body: Uint8Array): boolean => isOtherXml(body, TRX.roots);
