/** The parser of xUnit.net's XML. */
import type { ReportFormat } from '../format.ts';
import { isOtherXml } from '../other-xml.ts';
import { readXml } from '../xml.ts';
import { XunitHandler } from './handler.ts';

const XUNIT = { title: 'xUnit.net XML', roots: ['assemblies', 'assembly'], nameAttributes: ['name', 'type'] } as const;

export const readXunit: ReportFormat['parse'] = async (body, report) => {
  const handler = new XunitHandler(report);
  handler.finish(await readXml(body, XUNIT, handler));
};

export const isOtherXunit = (body: Uint8Array): boolean => isOtherXml(body, XUNIT.roots);
