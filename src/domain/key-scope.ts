/**
 * Scopes of application keys: `ci` may do everything but read the event log, `view` read everything and change nothing,
 * `admin` everything.
 */
export const KEY_SCOPES = ['ci', 'view', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
