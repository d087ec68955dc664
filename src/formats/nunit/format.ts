/** The test results of NUnit 3 in its own XML. */
import type { ReportFormat } from '../format.ts';

export const nunit: ReportFormat = {
  name: 'nunit',
  title: 'NUnit XML',
  description: 'NUnit 3 and later write them: `nunit3-console --result=nunit.xml`, or `dotnet test --logger nunit`.',
  globs: ['**/*.xml'],
  mediaTypes: ['application/xml', 'text/xml'],
  example: {
    file: 'nunit.xml',
    text: '<test-run id="0" total="1" passed="1" failed="0" result="Passed"><test-suite type="TestFixture" fullname="Shop.CartTests" result="Passed"><test-case name="Adds" fullname="Shop.CartTests.Adds" methodname="Adds" classname="Shop.CartTests" result="Passed" start-time="2026-11-21 09:30:00Z" end-time="2026-11-21 09:30:00Z" duration="0.012"/></test-suite></test-run>',
  },
  isOther: async (body) => (await import('./read.ts')).isOtherNunit(body),
  parse: async (body, report) => (await import('./read.ts')).readNunit(body, report),
};
