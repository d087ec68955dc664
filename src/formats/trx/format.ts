/** TRX, the test results of Visual Studio and .NET. */
import type { ReportFormat } from '../format.ts';

export const trx: ReportFormat = {
  name: 'trx',
  title: 'TRX',
  description: 'Visual Studio writes them, and .NET with `dotnet test --logger trx`.',
  globs: ['**/*.trx'],
  hasFilesBeside: true,
  mediaTypes: ['application/xml', 'text/xml'],
  example: {
    file: 'results.trx',
    text: '<TestRun xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010"><Results><UnitTestResult executionId="8d8c1d9c-1d5e-4d6f-9c1a-5a0f8d7c6b51" testId="b1f5a3f0-2f0e-4a55-8e3f-0d6a7c9b8e11" testName="Adds" outcome="Passed" startTime="2026-11-21T09:30:00.0000000+00:00" endTime="2026-11-21T09:30:00.0120000+00:00" duration="00:00:00.0120000"/></Results><TestDefinitions><UnitTest name="Adds" id="b1f5a3f0-2f0e-4a55-8e3f-0d6a7c9b8e11"><TestMethod className="Shop.CartTests" name="Adds"/></UnitTest></TestDefinitions></TestRun>',
  },
  isOther: async (body) => (await import('./read.ts')).isOtherTrx(body),
  parse: async (body, report) => (await import('./read.ts')).readTrx(body, report),
};
