/** What a push says at its end. */
import { count, printable } from './output.ts';
import type { UploadResult } from './upload.ts';

/** Whether everything was taken: no file failed, and no row of one was refused. */
export const isAllAccepted = (results: readonly UploadResult[]): boolean =>
  results.every((result) => result.outcome !== 'failed' && result.rejected === 0);

/** The first line counts; then one for every file that failed, every reason rows were refused for, every warning. */
export function summaryOf(results: readonly UploadResult[]): string[] {
  const sum = (of: (result: UploadResult) => number): number =>
    results.reduce((total, result) => total + of(result), 0);
  const taken = results.filter((result) => result.outcome !== 'failed');
  const queued = results.filter((result) => result.outcome === 'queued').length;
  const counts = [
    `${count(
      sum((result) => result.accepted),
      'execution',
    )} accepted`,
    `${sum((result) => result.duplicate).toLocaleString('en-US')} duplicate`,
    `${sum((result) => result.rejected).toLocaleString('en-US')} rejected`,
  ];
  return [
    `${count(taken.length, 'report')} of ${results.length} uploaded: ${counts.join(', ')}.`,
    ...(queued > 0 ? [`${count(queued, 'report')} taken and not stored yet: the service goes on by itself.`] : []),
    ...results.filter((result) => result.problem).map((result) => `${result.file}: ${result.problem}`),
    ...results.flatMap((result) =>
      result.rejections.map(
        (rejection) => `${result.file}: ${count(rejection.count, 'row')} rejected: ${rejection.reason}`,
      ),
    ),
    ...shared(results),
    ...(taken.length > 0 && taken.every((result) => result.duplicate > 0 && result.accepted === 0)
      ? [
          'Everything was there already. If these are other results, of another leg of a matrix for example, tell them apart with --job or --report.',
        ]
      : []),
  ].map(printable);
}

/** A warning that every file has is said once. */
function shared(results: readonly UploadResult[]): string[] {
  const files = new Map<string, string[]>();
  for (const { file, warnings } of results)
    for (const warning of warnings) files.set(warning, [...(files.get(warning) ?? []), file]);
  return [...files].map(([warning, of]) =>
    of.length === 1 ? `${of[0]}: ${warning}` : `${of.length} reports: ${warning}`,
  );
}
