/** Why a quarantine is refused. */
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { unprocessable } from '../http/problems.ts';
import { NoRoomForQuarantine } from '../postgres/quarantine-room.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';

/** Throws 422 for an end that has passed: such a quarantine would end at once. */
export async function requireFuture(quarantines: QuarantineStore, expiresAt: Date | null | undefined): Promise<void> {
  if (!expiresAt || !(await quarantines.hasPassed(expiresAt))) return;
  throw unprocessable([
    {
      loc: ['body', 'expires_at'],
      msg: 'is not in the future; leave it out for a quarantine without end',
      type: 'invalid_value',
    },
  ]);
}

/** The problem of a quarantine that would be too much beside the others; anything else is thrown again. */
export function noRoom(error: unknown): never {
  if (!(error instanceof NoRoomForQuarantine)) throw error;
  const loc = error.limit === 'QUARANTINES_COST_MAX' ? ['body', 'branch'] : ['body'];
  throw unprocessable([{ loc, msg: REQUEST_LIMITS[error.limit].sentence(), type: 'no_room' }]);
}
