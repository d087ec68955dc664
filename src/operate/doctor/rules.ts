/** From figures to findings: pure, so that tests reach every threshold without a store in that state. */
import { REPEATS_SENTENCE } from '../../clickhouse/tokens.ts';
import type { Backlog } from '../../postgres/backlog.ts';
import { compareByNumbers } from '../../versions.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

type StoringBacklog = Pick<Backlog, 'blocksUnstored' | 'unstoredSeconds' | 'refused'>;

export interface Versions {
  /** Older versions do not work. */
  oldest: string;
  /** Newer versions were not tested; undefined: no such limit. */
  newest?: string;
  /** Older versions work, but are not recommended. */
  wanted?: string;
}

/** Supported versions. Only the given leading numbers count: 18 includes 18.4. */
export const SUPPORTED = {
  Bun: { oldest: '1.3', wanted: '1.4' },
  PostgreSQL: { oldest: '14', newest: '18' },
  // BullMQ refuses below 5.0 and recommends 6.2.
  Redis: { oldest: '5.0', wanted: '6.2' },
  // Since 24.8, deduplication tokens reach the tables that views fill. The tests run on the embedded version.
  ClickHouse: { oldest: '24.8', wanted: '25.3' },
} satisfies Record<string, Versions>;

export function versionFinding(product: keyof typeof SUPPORTED, version: string): Finding {
  const { oldest, newest, wanted }: Versions = SUPPORTED[product];
  const check = `${product} version`;
  if (compareByNumbers(version, oldest) < 0)
    return problem(check, `${version} is too old.`, `Upgrade ${product} to ${wanted ?? oldest} or later.`);
  if (wanted !== undefined && compareByNumbers(version, wanted) < 0)
    return warning(check, `${version} works, but ${wanted} or later is recommended.`, `Plan an upgrade of ${product}.`);
  const major = version.split('.')[0] ?? version;
  if (newest !== undefined && compareByNumbers(major, newest) > 0)
    return warning(
      check,
      `${version} is newer than ${newest}, the newest tested version.`,
      'Watch the log after upgrades.',
    );
  return ok(check, version);
}

const CLOCK_WARNING_MS = 2_000;
const CLOCK_PROBLEM_MS = 60_000;

/** How far a store's clock is ahead of ours (below 0: behind), in milliseconds. */
export function clockFinding(store: string, aheadMs: number): Finding {
  const check = `${store} clock`;
  const seconds = (Math.abs(aheadMs) / 1_000).toFixed(1);
  const message = `It is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine.`;
  const remedy = 'Let NTP set both clocks: times of executions, events and expiries are compared with them.';
  if (Math.abs(aheadMs) >= CLOCK_PROBLEM_MS) return problem(check, message, remedy);
  if (Math.abs(aheadMs) >= CLOCK_WARNING_MS) return warning(check, message, remedy);
  return ok(check, 'It agrees with the clock of this machine.');
}

const GIB = 1024 ** 3;
const DISK_PROBLEM_BYTES = GIB;
const DISK_WARNING_BYTES = 5 * GIB;

export function diskFinding(where: string, freeBytes: number): Finding {
  const check = `${where} disk`;
  const message = `${(freeBytes / GIB).toFixed(1)} GiB are free.`;
  const remedy = 'Free some space, or lower RETENTION_DAYS: months that are past it are dropped within the hour.';
  if (freeBytes < DISK_PROBLEM_BYTES) return problem(check, message, remedy);
  return freeBytes < DISK_WARNING_BYTES ? warning(check, message, remedy) : ok(check, message);
}

const LAG_WARNING_S = 60;
const LAG_PROBLEM_S = 600;

/** How much waits; `seconds` is the age of the oldest. */
/** @param drainSeconds how long the rest will take, if that is known; Infinity if it does not get less */
export function lagFinding(
  check: string,
  what: string,
  count: number,
  seconds: number,
  remedy: string,
  drainSeconds?: number,
): Finding {
  if (count === 0) return ok(check, `No ${what}s are waiting.`);
  const message = `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'} waiting, the oldest for ${Math.round(seconds)} s.${prospectOf(drainSeconds)}`;
  if (seconds >= LAG_PROBLEM_S) return problem(check, message, remedy);
  return seconds >= LAG_WARNING_S ? warning(check, message, remedy) : ok(check, message);
}

function prospectOf(drainSeconds: number | undefined): string {
  if (drainSeconds === undefined) return '';
  if (drainSeconds === Number.POSITIVE_INFINITY) return ' They are not getting fewer.';
  const minutes = Math.ceil(drainSeconds / 60);
  return ` At the present rate they will be done in about ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`;
}

/** Blocks that are written down but not in ClickHouse. */
export function storingFinding({ blocksUnstored, unstoredSeconds, refused }: StoringBacklog): Finding {
  const check = 'Storing';
  if (refused.count === 0)
    return lagFinding(
      check,
      'block',
      blocksUnstored,
      unstoredSeconds,
      'Check that a worker is running and that it reaches ClickHouse: its log says why it does not store them.',
    );
  const named = refused.ids.join(', ');
  const message = `ClickHouse refuses ${refused.count === 1 ? `block ${named}` : `${refused.count.toLocaleString('en-US')} blocks (${named}${refused.count > refused.ids.length ? ', …' : ''})`}, the oldest for ${Math.round(refused.seconds)} s. The last time it said: ${refused.reason}`;
  const remedy =
    'Correct what it names: the rights or the profile of the user in CLICKHOUSE_URL, its memory or its disks. Nothing is lost meanwhile: uploads wait in the queue, and are stored once it takes them.';
  return refused.seconds >= LAG_WARNING_S ? problem(check, message, remedy) : warning(check, message, remedy);
}

/** Compares the number of migrations that were run with the number that this version has. */
export function migrationsFinding(store: string, done: number, known: number): Finding {
  const check = `${store} migrations`;
  if (done < known)
    return problem(
      check,
      `${done} of ${known} were run.`,
      'Run `ci-insights migrate`, or start the service, which also runs them.',
    );
  if (done > known)
    return problem(
      check,
      `${done} were run, but this version has only ${known}: the store belongs to a newer version.`,
      'Run the newer version. The only way back is a backup.',
    );
  return ok(check, `All ${known} were run.`);
}

/** @param unsynced tables of ClickHouse that acknowledge an insert before it is on disk */
export function durabilityFinding(unsynced: readonly string[]): Finding {
  const check = 'ClickHouse durability';
  if (unsynced.length === 0) return ok(check, 'An insert is on disk before it is acknowledged.');
  return warning(
    check,
    `A power loss may lose what is already acknowledged in ${unsynced.join(', ')}.`,
    'Run `ALTER TABLE … MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1` for each of them. docs/operations.md has what it costs ("After a power loss").',
  );
}

/** @param areDropped whether what was inserted twice under one token was stored once */
export function repeatsFinding(areDropped: boolean): Finding {
  const check = 'ClickHouse inserts';
  if (areDropped) return ok(check, 'What is inserted twice under one token is stored once.');
  return problem(
    check,
    REPEATS_SENTENCE,
    'Check that `SHOW CREATE TABLE` has `non_replicated_deduplication_window` (on a cluster `replicated_deduplication_window`) for each table of `ci`, as the migrations set it, and that no proxy changes settings. Then run `ci-insights verify`.',
  );
}

/** @param policy as Redis reports it: `noeviction`, `allkeys-lru`, … */
export function evictionFinding(policy: string): Finding {
  return policy === 'noeviction'
    ? ok('Redis memory policy', policy)
    : problem(
        'Redis memory policy',
        `It is ${policy}: Redis may evict jobs, and with them uploads that are not stored yet.`,
        'Set maxmemory-policy noeviction.',
      );
}

export function persistenceFinding(isAppendOnly: boolean): Finding {
  return isAppendOnly
    ? ok('Redis persistence', 'It writes an append-only file.')
    : warning(
        'Redis persistence',
        'It writes no append-only file: a restart may lose uploads that are not stored yet.',
        'Set appendonly yes.',
      );
}

/**
 * @param unknown how many repositories ClickHouse has results of that PostgreSQL does not know
 * @param isEmpty whether PostgreSQL knows none at all
 */
export function unknownRepositoriesFinding(check: string, unknown: number, isEmpty: boolean): Finding {
  if (unknown === 0) return ok(check, 'PostgreSQL knows every repository of which ClickHouse has results.');
  const repositories = unknown === 1 ? '1 repository' : `${unknown.toLocaleString('en-US')} repositories`;
  const message = `ClickHouse has results of ${repositories} that PostgreSQL does not know.`;
  const remedy = isEmpty
    ? 'Check that DATABASE_URL names the right database. If its data is lost, restore it before anything is uploaded: docs/operations.md, "If PostgreSQL is lost".'
    : 'One of them was restored to an earlier moment, or lost: docs/operations.md, "If PostgreSQL is lost".';
  return problem(check, message, remedy);
}
