/** The last lines that a push prints. */

import { inLog } from '../domain/foreign-text.ts';
import { grouped } from '../domain/grouped-number.ts';
import { count } from './output.ts';
import type { UploadResult } from './upload.ts';

/** Whether everything was accepted: no file failed, no row was rejected, and none was lost with a broken end. */
export const isAllAccepted = (results: readonly UploadResult[]): boolean =>
  results.every((result) => result.outcome !== 'failed' && result.rejected === 0 && !result.isCutShort);

/** A line with counts, then a line for every failed file, every reason for rejected rows, and every warning. */
export function summaryOf(results: readonly UploadResult[]): string[] {
  const sum = (countOf: (result: UploadResult) => number): number =>
    results.reduce((total, result) => total + countOf(result), 0);
  const accepted = results.filter((result) => result.outcome !== 'failed');
  const queued = results.filter((result) => result.outcome === 'queued').length;
  const conflicting = sum((result) => result.conflicting);
  const counts = [
    `${count(
      sum((result) => result.accepted),
      'execution',
    )} accepted`,
    `${grouped(sum((result) => result.duplicate))} duplicate`,
    `${grouped(sum((result) => result.rejected))} rejected`,
    ...(conflicting > 0 ? [`${grouped(conflicting)} in conflict`] : []),
  ];
  return [
    `${count(accepted.length, 'report')} of ${results.length} uploaded: ${counts.join(', ')}.`,
    ...(queued > 0
      ? [
          `${count(queued, 'report')} accepted but not stored yet; the service will finish ${queued === 1 ? 'it' : 'them'}.`,
        ]
      : []),
    ...results.filter((result) => result.problem).map((result) => `${result.file}: ${result.problem}`),
    ...results.flatMap((result) =>
      result.rejections.map(
        (rejection) => `${result.file}: ${count(rejection.count, 'row')} rejected: ${rejection.reason}`,
      ),
    ),
    ...shared(results),
    ...(accepted.length > 0 &&
    conflicting === 0 &&
    accepted.every((result) => result.duplicate > 0 && result.accepted === 0)
      ? [
          'All of these results were stored before. If they are different results, such as those of another leg of a matrix, name the leg with --axis, or the report with --report.',
        ]
      : []),
  ].map(inLog);
}

/** Prints a warning once, even if several files have it. */
function shared(results: readonly UploadResult[]): string[] {
  const files = new Map<string, string[]>();
  for (const { file, warnings } of results)
    for (const warning of warnings) files.set(warning, [...(files.get(warning) ?? []), file]);
  return [...files].map(([warning, warned]) =>
    warned.length === 1 ? `${warned[0]}: ${warning}` : `${warned.length} reports: ${warning}`,
  );
}
