/** Which quarantines a request is about: filters, and a page in order of creation, of a list in memory. */
import { z } from 'zod';
import { matchesBranch } from '../domain/branch-pattern.ts';
import type { CursorKey } from '../http/cursor.ts';
import { type Page, type PageRequest, pageOf } from '../http/pages.ts';
import type { Quarantine } from '../postgres/quarantines.ts';

export interface QuarantineFilters {
  /** Those that apply to this branch. */
  branch: string | undefined;
  testId: string | undefined;
  source: Quarantine['source'] | undefined;
}

/** Whether a quarantine is of this branch: of every branch, of this one, or by its pattern (design §4 "?branch=X"). */
export const appliesTo = (quarantine: Pick<Quarantine, 'branch'>, branch: string): boolean =>
  quarantine.branch === null || matchesBranch(quarantine.branch, branch);

export const filtered = (
  quarantines: readonly Quarantine[],
  { branch, testId, source }: QuarantineFilters,
): Quarantine[] =>
  quarantines.filter(
    (quarantine) =>
      (testId === undefined || quarantine.testId === testId) &&
      (source === undefined || quarantine.source === source) &&
      (branch === undefined || appliesTo(quarantine, branch)),
  );

/** A place in the list: time of creation in milliseconds, then id. */
export const keySchema = z.tuple([z.int(), z.uuid()]);
export const keyOf = ({ createdAt, id }: Quarantine): [number, string] => [createdAt.getTime(), id];

/** One page of quarantines that are in order of creation. A key whose quarantine is gone still has its place. */
export function pageOfList(quarantines: readonly Quarantine[], request: PageRequest): Page<Quarantine> {
  const { direction, key, perPage } = request;
  const isBeyond = (quarantine: Quarantine): boolean => {
    if (key === null) return true;
    const order = compare(keyOf(quarantine), key);
    return direction === 'next' ? order > 0 : order < 0;
  };
  const beyond = quarantines.filter(isBeyond);
  const nearest = direction === 'next' ? beyond.slice(0, perPage + 1) : beyond.slice(-(perPage + 1)).reverse();
  return pageOf(request, nearest);
}

/** PostgreSQL compares UUIDs by their bytes, which is the order of their text. */
function compare(a: readonly [number, string], b: CursorKey): number {
  const [time, id] = keySchema.parse(b);
  if (a[0] !== time) return a[0] - time;
  return a[1] < id ? -1 : a[1] > id ? 1 : 0;
}
