/** The one place where the bounds of a credential are applied to what it sends, whatever the format. */
import { boundRun, boundSource, type ReportBounds } from '../domain/report-bounds.ts';
import type { ParsedUpload } from '../formats/upload.ts';

/** The credential may not send this. The message is a sentence for the sender. */
export class NotPermitted extends Error {
  override name = 'NotPermitted';
}

/** The upload as its credential lets it be. Throws {@link NotPermitted}. */
export function withinBounds(upload: ParsedUpload, bounds: ReportBounds | undefined): ParsedUpload {
  if (!bounds) return upload;
  const warnings = new Set(upload.warnings);
  const runs = upload.runs.map(({ run, executions }) => {
    const bound = boundRun(run, bounds);
    if ('refusal' in bound) throw new NotPermitted(bound.refusal);
    if (bound.warning !== undefined) warnings.add(bound.warning);
    const sourceOf = boundSource(bound.run, bounds);
    return { run: bound.run, executions: executions.map((one) => ({ ...one, source: sourceOf(one.source) })) };
  });
  return { ...upload, runs, warnings: [...warnings] };
}
