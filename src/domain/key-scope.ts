/**
 * Scopes of application keys: `view` may read everything and change nothing, `upload` upload and read, `ci` also quarantine
 * and release, `admin` everything. Only `view` and `admin` may read the event log.
 */
export const KEY_SCOPES = ['view', 'upload', 'ci', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
