/** Which exit codes of a command mean that tests failed, and nothing worse. */
import { InvalidArgumentError } from 'commander';
import type { ReportFormat } from '../../formats/format.ts';
import { CODE_CRASHED_MIN } from './decision.ts';

/**
 * `dotnet test` ends with 2 where tests run on Microsoft.Testing.Platform, `bazel test` with 3, Robot Framework with the
 * number of failed tests.
 */
const BY_FORMAT: Readonly<Record<string, readonly number[]>> = {
  trx: [1, 2],
  xunit: [1, 2],
  bazel: [3],
  robot: Array.from({ length: CODE_CRASHED_MIN - 1 }, (_, i) => i + 1),
};
const USUAL: readonly number[] = [1];

export const usualFailureCodes = ({ name }: ReportFormat): readonly number[] => BY_FORMAT[name] ?? USUAL;

/** `1,3` or `1-125`: for runners that end with the number of failed tests. */
export function parseFailureCodes(value: string): readonly number[] {
  const codes = value.split(',').flatMap((part) => {
    const [, first = '', last = first] = /^\s*(\d{1,3})(?:-(\d{1,3}))?\s*$/.exec(part) ?? [];
    const [from, to] = [Number(first), Number(last)];
    if (first === '' || from < 1 || to < from || to >= CODE_CRASHED_MIN)
      throw new InvalidArgumentError(
        `Write exit codes from 1 to ${CODE_CRASHED_MIN - 1} with commas, or a range: 1,3 or 1-125.`,
      );
    return Array.from({ length: to - from + 1 }, (_, i) => from + i);
  });
  return [...new Set(codes)];
}
