/**
 * Checks and cuts the rows of every parser on their way into a `ParsedUpload`. A row that cannot be stored is counted
 * with a reason, and the others are kept. NUL or half a surrogate pair in a name is such a reason: if the name were
 * changed to be stored, the sender would not find it again.
 */

import { KeptAttachments } from '../domain/attachments.ts';
import type { Run } from '../domain/columns.ts';
import { executionColumns, failureColumns, runColumns } from '../domain/columns.ts';
import { UPLOAD_LIMITS } from '../domain/limit-table.ts';
import { FAILURES_MAX, nameRejection, runRejection, UPLOAD_EXECUTIONS_MAX } from '../domain/limits.ts';
import { Rejections } from '../domain/rejections.ts';
import { UploadTooLarge } from './errors.ts';
import type { ParsedExecution, ParsedFailure, ParsedRun, ParsedUpload } from './upload.ts';

export class UploadCollector {
  readonly #runs = new Map<string, ParsedRun>();
  /** Why no execution of these runs can be stored. */
  readonly #wrongRuns = new Map<ParsedRun, string>();
  readonly #rejections = new Rejections();
  readonly #warnings = new Set<string>();
  #executionCount = 0;

  constructor(readonly executionsMax = UPLOAD_EXECUTIONS_MAX) {}

  /** The run with these values. Executions with equal runs share one. */
  run(run: Run): ParsedRun {
    const key = JSON.stringify(run);
    const known = this.#runs.get(key);
    if (known) return known;
    const parsed: ParsedRun = {
      run: runColumns.cleaned(run),
      executions: [],
    };
    this.#runs.set(key, parsed);
    const reason = runRejection(parsed.run);
    if (reason) this.#wrongRuns.set(parsed, reason);
    return parsed;
  }

  add(run: ParsedRun, execution: ParsedExecution): void {
    if (++this.#executionCount > this.executionsMax)
      throw new UploadTooLarge(UPLOAD_LIMITS.UPLOAD_EXECUTIONS_MAX.sentence(this.executionsMax));
    const reason = nameRejection(execution.name) ?? this.#wrongRuns.get(run);
    if (reason) {
      this.reject(reason, execution.name);
      return;
    }
    const cleaned = executionColumns.cleaned(execution);
    if (execution.failures.length === 0) {
      run.executions.push(cleaned);
      return;
    }
    const failures = this.#withKept(
      execution.failures.slice(0, FAILURES_MAX).map((failure) => failureColumns.cleaned(failure)),
    );
    if (failures.length < execution.failures.length) this.warn(UPLOAD_LIMITS.FAILURES_MAX.sentence());
    run.executions.push({ ...cleaned, failures });
  }

  #withKept(failures: ParsedFailure[]): ParsedFailure[] {
    if (failures.every(({ attachments }) => attachments === undefined)) return failures;
    const kept = new KeptAttachments();
    const all = failures.map(({ attachments, ...failure }) => {
      const own = kept.of(attachments);
      return own.length === 0 ? failure : { ...failure, attachments: own };
    });
    if (kept.areTooMany) this.warn(UPLOAD_LIMITS.ATTACHMENTS_MAX.sentence());
    return all;
  }

  reject(reason: string, name: string): void {
    this.#rejections.add(reason, name);
  }

  warn(sentence: string): void {
    this.#warnings.add(sentence);
  }

  /** Keeps runs without executions only if `keepsEmptyRuns`, because a report without tests has a receipt. */
  finish({ keepsEmptyRuns = false } = {}): ParsedUpload {
    const runs = [...this.#runs.values()].filter((run) => keepsEmptyRuns || run.executions.length > 0);
    return { runs, rejections: this.#rejections.list(), warnings: [...this.#warnings] };
  }
}
