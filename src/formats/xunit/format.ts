/** The test results of xUnit.net in its own XML, of its versions 2 and 3. */
import type { ReportFormat } from '../format.ts';

export const xunit: ReportFormat = {
  name: 'xunit',
  title: 'xUnit.net XML',
  description:
    'xUnit.net 2 and 3 write them: `xunit.console -xml xunit.xml`, `dotnet test --logger xunit`, or `dotnet test -- --report-xunit` with version 3.',
  globs: ['**/*.xml'],
  mediaTypes: ['application/xml', 'text/xml'],
  example: {
    file: 'xunit.xml',
    text: '<assemblies><assembly name="Shop.Tests.dll" run-date="2026-11-21" run-time="09:30:00" total="1" passed="1" failed="0"><collection><test name="Shop.CartTests.Adds" type="Shop.CartTests" method="Adds" time="0.012" result="Pass"/></collection></assembly></assemblies>',
  },
  isOther: async (body) => (await import('./read.ts')).isOtherXunit(body),
  parse: async (body, report) => (await import('./read.ts')).readXunit(body, report),
};
