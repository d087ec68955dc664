/** The parser of NUnit's XML. */
import type { ReportFormat } from '../format.ts';
import { isOtherXml } from '../other-xml.ts';
import { readXml } from '../xml.ts';
import { NunitHandler } from './handler.ts';

const NUNIT = { title: 'NUnit XML', roots: ['test-run'], nameAttributes: ['fullname', 'classname', 'name'] } as const;

export const readNunit: ReportFormat['parse'] = async (body, report) => {
  const handler = new NunitHandler(report);
  handler.finish(await readXml(body, NUNIT, handler));
};

export const isOtherNunit = (body: Uint8Array): boolean => isOtherXml(body, NUNIT.roots);
