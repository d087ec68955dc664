/** JUnit XML, which nearly every test runner can write. */
import type { ReportFormat } from '../format.ts';

export const junit: ReportFormat = {
  name: 'junit',
  title: 'JUnit XML',
  description: 'Nearly every test runner can write them.',
  globs: ['**/*.xml'],
  mediaTypes: ['application/xml', 'text/xml'],
  example: {
    file: 'cart.xml',
    text: '<testsuites><testsuite name="cart" timestamp="2026-11-21T09:30:00Z"><testcase classname="Cart" name="adds an item" time="0.012"/></testsuite></testsuites>',
  },
  isOther: async (body) => (await import('./read.ts')).isOtherJunit(body),
  parse: async (body, report) => (await import('./read.ts')).readJunit(body, report),
};
