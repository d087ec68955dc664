/**
 * Every advisory lock of the service. PostgreSQL knows them by number only, and two features with the same number would
 * wait for each other. Each number is four letters in ASCII. All are held until the end of a transaction.
 */

/** "cimi": one process migrates at a time. */
export const MIGRATION_LOCK = 0x63696d69;
/** "ledg", with the bucket of a source key: one worker at a time reads and writes the claims of a source. */
export const LEDGER_LOCK = 0x6c656467;
/** "rebu": inserts share this lock; a rebuild holds it alone. */
export const REBUILD_LOCK = 0x72656275;
/** "totl", with the hash of a repository's id: one process at a time counts its tests. */
export const TOTALS_LOCK = 0x746f746c;
/** "evnt": one process at a time gives events of the outbox their places. */
export const PLACES_LOCK = 0x65766e74;
/** "dele": one process at a time removes what is stored of deleted repositories, forgotten tests and people. */
export const DELETION_LOCK = 0x64656c65;
/** "reti": one process at a time drops the months that have left; no repository or test is removed meanwhile. */
export const RETENTION_LOCK = 0x72657469;
/** "regr": one process at a time regroups failures. */
export const REGROUP_LOCK = 0x72656772;
/** "veri": one process at a time compares everything derived with the executions. */
export const VERIFY_LOCK = 0x76657269;
/** "rena": one process at a time moves what is stored of renamed tests. */
export const RENAME_LOCK = 0x72656e61;
/** "back": one process at a time makes backtests. */
export const BACKTEST_LOCK = 0x6261636b;
/** "quar", with the hash of a repository's id: one quarantine at a time is made or changed by people and clients. */
export const QUARANTINES_LOCK = 0x71756172;
/** "sess", with the hash of a key or person: one session of them at a time begins. */
export const SESSIONS_LOCK = 0x73657373;
/** "caus", with the hash of a repository's id: one process at a time derives its causes. */
export const CAUSES_LOCK = 0x63617573;
/** "dura", with the hash of a repository's id: one process at a time derives its durations. */
export const DURATIONS_LOCK = 0x64757261;
/** "appl": one process at a time applies a file (src/cli/apply.ts). */
export const APPLY_LOCK = 0x6170706c;
/** "view", with the hash of a repository's id: one view at a time is saved. */
export const VIEWS_LOCK = 0x76696577;
