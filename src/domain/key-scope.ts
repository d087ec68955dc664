/** What an application key may do: `ci` everything but read the event log, `admin` everything. */
export const KEY_SCOPES = ['ci', 'admin'] as const;
export type KeyScope = (typeof KEY_SCOPES)[number];
