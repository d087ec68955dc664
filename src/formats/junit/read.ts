/** The parser of JUnit XML. */
import type { ReportFormat } from '../format.ts';
import { isOtherXml } from '../other-xml.ts';
import { readXml } from '../xml.ts';
import { JunitHandler } from './handler.ts';

const JUNIT_XML = {
  title: 'JUnit XML',
  roots: ['testsuites', 'testsuite'],
  nameAttributes: ['name', 'classname'],
} as const;

export const readJunit: ReportFormat['parse'] = async (body, report) => {
  const breakage = await readXml(body, JUNIT_XML, new JunitHandler(report));
  if (breakage !== null) report.warnOfBreak(breakage);
};

export const isOtherJunit = (body: Uint8Array): boolean => isOtherXml(body, JUNIT_XML.roots);
