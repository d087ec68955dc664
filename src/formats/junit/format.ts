/** JUnit XML, which nearly every test runner can write. */
import type { ReportFormat } from '../format.ts';
import { readXml } from '../xml.ts';
import { JunitHandler } from './handler.ts';

const JUNIT_XML = {
  title: 'JUnit XML',
  roots: ['testsuites', 'testsuite'],
  nameAttributes: ['name', 'classname'],
} as const;

export const junit: ReportFormat = {
  name: 'junit',
  title: JUNIT_XML.title,
  description: 'Nearly every test runner can write them.',
  globs: ['**/*.xml'],
  mediaTypes: ['application/xml', 'text/xml'],
  example: {
    file: 'cart.xml',
    text: '<testsuites><testsuite name="cart" timestamp="2026-11-21T09:30:00Z"><testcase classname="Cart" name="adds an item" time="0.012"/></testsuite></testsuites>',
  },
  parse: async (body, report) => {
    const breakage = await readXml(body, JUNIT_XML, new JunitHandler(report));
    if (breakage !== null) report.warnOfBreak(breakage);
  },
};
