/** What we say of a report, in lines that people can compare. */
import { FORMATS } from '../../src/formats/formats.ts';
import { counted } from '../../src/formats/report.ts';
import { executionsOf } from '../support/parsing.ts';
import { parse } from '../support/reports.ts';

/** Where projects lie in stored reports. */
export const HOME = '/home/me/shop';

/** JUnit reports of Playwright name files from their own folder. */
const PLACE = { url: 'https://files.example/', root: HOME, from: `${HOME}/reports` };

/**
 * A line for each execution, sorted, and the warnings of the receipt.
 *
 * @param fixture path of the report within tests/fixtures, which begins with its format
 * @example { executions: ['cart.pays: flaky, 2 failures'], warnings: [] }
 */
export async function linesIn(
  fixture: string,
  report: string | Uint8Array,
): Promise<{ executions: string[]; warnings: string[] }> {
  const format = FORMATS.find(({ name }) => name === fixture.split('/')[0]);
  if (!format) throw new Error(`${fixture} has no format`);
  const upload = await parse(format, report, { attachments: PLACE });
  const executions = executionsOf(upload).map(({ name, status, isFlaky, isRetried, failures }) => {
    const links = failures.reduce((sum, { attachments }) => sum + (attachments?.length ?? 0), 0);
    const usual = status === 'failed' || isFlaky ? 1 : 0;
    return [
      `${name}: ${isFlaky ? 'flaky' : status}`,
      ...(failures.length === usual ? [] : [`${failures.length} failures`]),
      ...(isRetried && !isFlaky ? ['run again'] : []),
      ...(links === 0 ? [] : [counted(links, 'attachment')]),
    ].join(', ');
  });
  return { executions: executions.sort(), warnings: upload.warnings };
}
