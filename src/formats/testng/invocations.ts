/** From the calls of the methods of a class to records: TestNG lists each call, also those that it repeated. */
import type { ReportedRecord } from '../report.ts';

/** A call of a test method. */
export interface Invocation {
  record: ReportedRecord;
  /** It failed and was run again. */
  isRetried: boolean;
  /** The method and the object that it was called on. */
  signature: string;
  hasParameters: boolean;
}

/**
 * In the order of the report, with the failures of earlier attempts in the record of the last. A method that was called
 * several times on one object and without parameters is repeated (`invocationCount`); all others that have one name are
 * different tests.
 */
export function recordsOf(invocations: readonly Invocation[]): ReportedRecord[] {
  const byName = new Map<string, Invocation[]>();
  for (const invocation of invocations) {
    const same = byName.get(invocation.record.name);
    if (same) same.push(invocation);
    else byName.set(invocation.record.name, [invocation]);
  }
  return [...byName.values()].flatMap((same) => {
    const [first] = same;
    const isRepeated = same.every(({ signature, hasParameters }) => !hasParameters && signature === first?.signature);
    return joined(same).map((record) => ({ ...record, listing: isRepeated ? 'repeats' : 'never' }));
  });
}

/** Attempts belong to the call after them. Without one, as after a crash, the last of them decides. */
function joined(same: readonly Invocation[]): ReportedRecord[] {
  const records: ReportedRecord[] = [];
  let attempts: ReportedRecord[] = [];
  for (const [i, { record, isRetried }] of same.entries()) {
    if (isRetried && i < same.length - 1) attempts.push(record);
    else {
      const last: ReportedRecord = isRetried ? { ...record, status: 'failed' } : record;
      records.push(attempts.length === 0 ? last : after(attempts, last));
      attempts = [];
    }
  }
  return records;
}

function after(attempts: readonly ReportedRecord[], last: ReportedRecord): ReportedRecord {
  const failures = [...attempts, last].flatMap((one) => one.failures);
  return {
    ...last,
    isFlaky: last.status === 'passed',
    isRetried: true,
    failures: failures.map((failure, i) => ({ ...failure, attempt: i + 1 })),
  };
}
