/** The report of TestNG. */
import type { ReportFormat } from '../format.ts';

export const testng: ReportFormat = {
  name: 'testng',
  title: 'TestNG XML',
  description: 'TestNG 6.9 and later writes them as `testng-results.xml`, also where Surefire or Gradle runs it.',
  globs: ['**/testng-results*.xml'],
  mediaTypes: ['application/xml', 'text/xml'],
  example: {
    file: 'testng-results.xml',
    text: '<testng-results total="1" passed="1" failed="0" skipped="0"><suite name="Shop"><test name="linux"><class name="shop.CartTest"><test-method name="adds" signature="adds()[pri:0, instance:shop.CartTest@1188e820]" status="PASS" started-at="2026-11-21T09:30:00 UTC" duration-ms="12"/></class></test></suite></testng-results>',
  },
  isOther: async (body) => (await import('./read.ts')).isOtherTestng(body),
  parse: async (body, report) => (await import('./read.ts')).readTestng(body, report),
};
