/**
 * The same comparison as `verify`, while the service runs: one repository after the other, on one thread of ClickHouse,
 * with pauses. Only reads.
 *
 * If the service stores something between two reads of a look, that may seem to be a difference. So a repository with
 * differences is looked at again, and only those that are there each time count.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { onOneThread } from '../clickhouse/patient.ts';
import {
  type Look,
  lookAt,
  lookAtLedger,
  reportOf,
  repositoriesToLookAt,
  type VerifyDeps,
  type VerifyReport,
} from './verify.ts';

const LOOKS = 3;
/** The service stores several blocks a second when it is busy, and evaluates each within a few. */
const BETWEEN_LOOKS_MS = 2_000;
/** The process does nothing else while it judges so many. */
const EXECUTIONS_AT_ONCE = 20_000;

export interface OnlineOptions {
  onProgress(compared: number, repositories: number): Promise<void>;
  /** Asked between two repositories. */
  isStopped(): boolean;
  betweenLooksMs?: number;
}

/** Compares everything; undefined if it was stopped. */
export async function verifyOnline(
  deps: VerifyDeps,
  { onProgress, isStopped, betweenLooksMs = BETWEEN_LOOKS_MS }: OnlineOptions,
): Promise<VerifyReport | undefined> {
  const patient = { ...deps, clickhouse: onOneThread(deps.clickhouse) };
  const ids = await repositoriesToLookAt(patient);
  const looks: Look[] = [];
  for (const id of ids) {
    await onProgress(looks.length, ids.size);
    if (isStopped()) return undefined;
    looks.push(await lastingLook(patient, id, betweenLooksMs));
  }
  const ledger = await lookAtLedger(patient);
  await onProgress(looks.length, ids.size);
  return reportOf(looks, ledger);
}

/** The differences of a repository that are there in every look. */
async function lastingLook(deps: VerifyDeps, repositoryId: string, betweenLooksMs: number): Promise<Look> {
  let look = await lookAt(deps, repositoryId, EXECUTIONS_AT_ONCE);
  for (let looks = 1; looks < LOOKS && hasDifferences(look); looks++) {
    await sleep(betweenLooksMs);
    const again = await lookAt(deps, repositoryId, EXECUTIONS_AT_ONCE);
    const earlier = look;
    const lasting = [...again.differences].map(([name, found]) => {
      const before = new Set(earlier.differences.get(name));
      return [name, found.filter((difference) => before.has(difference))] as const;
    });
    look = { ...again, differences: new Map(lasting) };
  }
  return look;
}

const hasDifferences = ({ differences }: Look): boolean => [...differences.values()].some(({ length }) => length > 0);
