/** From the calls of the methods of a class to records: TestNG lists each call, also those that it repeated. */
import type { ReportedRecord } from '../report.ts';

/** A call of a test method, without what all calls of its class share. */
export interface Invocation {
  record: Omit<ReportedRecord, 'place' | 'name' | 'home'>;
  /** The method, with its parameters. */
  ownName: string;
  /** The name that tells the object from others of the class; empty if it has none. */
  instance: string;
  /** It failed and was run again. */
  isRetried: boolean;
  /** The method and the object that it was called on. */
  signature: string;
  hasParameters: boolean;
}

type Outcome = Invocation['record'];

type Joined = Pick<Invocation, 'record' | 'ownName' | 'instance'>;

/**
 * In the order of the report, with the failures of earlier attempts in the record of the last. A method that was called
 * several times on one object and without parameters is repeated (`invocationCount`); all others that have one name are
 * different tests.
 */
export function recordsOf(invocations: readonly Invocation[]): Joined[] {
  const byName = new Map<string, Invocation[]>();
  for (const invocation of invocations) {
    const name = JSON.stringify([invocation.instance, invocation.ownName]);
    const same = byName.get(name);
    if (same) same.push(invocation);
    else byName.set(name, [invocation]);
  }
  return [...byName.values()].flatMap((same) => {
    const [first] = same;
    const isRepeated = same.every(({ signature, hasParameters }) => !hasParameters && signature === first?.signature);
    const { ownName = '', instance = '' } = first ?? {};
    const listing = isRepeated ? 'repeats' : 'never';
    return joined(same).map((record) => ({ ownName, instance, record: { ...record, listing } }));
  });
}

/**
 * Attempts belong to the call after them, or to the one before if none follows: TestNG sorts calls by their time, and those
 * of one millisecond come in any order. Without either, as after a crash, the last of them decides.
 */
function joined(same: readonly Invocation[]): Outcome[] {
  const records: Outcome[] = [];
  let attempts: Outcome[] = [];
  for (const { record, isRetried } of same) {
    if (isRetried) attempts.push(record);
    else {
      records.push(after(attempts, record));
      attempts = [];
    }
  }
  const last = attempts.length === 0 ? undefined : (records.pop() ?? crashed(attempts.pop()));
  return last ? [...records, after(attempts, last)] : records;
}

const crashed = (attempt: Outcome | undefined): Outcome | undefined => attempt && { ...attempt, status: 'failed' };

function after(attempts: readonly Outcome[], last: Outcome): Outcome {
  if (attempts.length === 0) return last;
  const failures = [...attempts, last].flatMap((one) => one.failures);
  return {
    ...last,
    isFlaky: last.status === 'passed',
    isRetried: true,
    failures: failures.map((failure, i) => ({ ...failure, attempt: i + 1 })),
  };
}
