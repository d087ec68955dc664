/** Which quarantines a request is about: filters, and a page of a list in memory, in order of creation. */
import { z } from 'zod';
import { type ScopeQuestion, shownTo } from '../domain/quarantine-scope.ts';
import type { PagedList, PageRequest } from '../http/pages.ts';
import type { Quarantine } from '../postgres/quarantine-records.ts';

export interface QuarantineFilters extends ScopeQuestion {
  testId: string | undefined;
  source: Quarantine['source'] | undefined;
}

export const filtered = (
  quarantines: readonly Quarantine[],
  { testId, source, ...asked }: QuarantineFilters,
): Quarantine[] =>
  shownTo(
    quarantines.filter(
      (quarantine) =>
        (testId === undefined || quarantine.testId === testId) &&
        (source === undefined || quarantine.source === source),
    ),
    asked,
  );

/** Time of creation in milliseconds, then id. */
type QuarantineKey = [createdMs: number, id: string];

export const pagedQuarantines: PagedList<Quarantine, QuarantineKey> = {
  name: 'quarantines',
  keySchema: z.tuple([z.int(), z.uuid()]),
  keyOf: ({ createdAt, id }) => [createdAt.getTime(), id],
};

/**
 * Quarantines beyond the key of a page, nearest first, up to one more than the page. The list is in order of creation. A
 * key still has its position when its quarantine is gone.
 */
export function beyondKey(
  quarantines: readonly Quarantine[],
  { direction, key, perPage }: PageRequest<QuarantineKey>,
): Quarantine[] {
  const beyond = quarantines.filter((quarantine) => {
    if (key === null) return true;
    const order = compare(pagedQuarantines.keyOf(quarantine), key);
    return direction === 'next' ? order > 0 : order < 0;
  });
  return direction === 'next' ? beyond.slice(0, perPage + 1) : beyond.slice(-(perPage + 1)).reverse();
}

/** PostgreSQL compares UUIDs by their bytes, which is the order of their text. */
function compare([createdMsA, idA]: QuarantineKey, [createdMsB, idB]: QuarantineKey): number {
  if (createdMsA !== createdMsB) return createdMsA - createdMsB;
  return idA < idB ? -1 : idA > idB ? 1 : 0;
}
