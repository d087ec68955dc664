/** What we say of a report, in lines that people can compare. */
import { FORMATS } from '../../src/formats/formats.ts';
import { executionsOf } from '../support/parsing.ts';
import { parse } from '../support/reports.ts';

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
  const upload = await parse(format, report);
  const executions = executionsOf(upload).map(({ name, status, isFlaky, isRetried, failures }) => {
    const usual = status === 'failed' || isFlaky ? 1 : 0;
    return [
      `${name}: ${isFlaky ? 'flaky' : status}`,
      ...(failures.length === usual ? [] : [`${failures.length} failures`]),
      ...(isRetried && !isFlaky ? ['run again'] : []),
    ].join(', ');
  });
  return { executions: executions.sort(), warnings: upload.warnings };
}
