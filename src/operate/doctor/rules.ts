/** From figures to findings: pure, so that every threshold is tested without a store that is in that state. */
import { compareByNumbers } from '../../versions.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

export interface Versions {
  /** Older does not work. */
  oldest: string;
  /** Nothing newer was tried; undefined: no such limit. */
  newest?: string;
  /** Older works, but is not what it is made for. */
  wanted?: string;
}

/** Supported versions. Only leading numbers that are given count: 18 holds 18.4. */
export const SUPPORTED = {
  Bun: { oldest: '1.3', wanted: '1.4' },
  PostgreSQL: { oldest: '14', newest: '18' },
  // BullMQ refuses below 5.0 and recommends 6.2.
  Redis: { oldest: '5.0', wanted: '6.2' },
  // Tokens reach what views fill since 24.8; tested is the version that is embedded.
  ClickHouse: { oldest: '24.8', wanted: '25.3' },
} satisfies Record<string, Versions>;

export function versionFinding(product: keyof typeof SUPPORTED, version: string): Finding {
  const { oldest, newest, wanted }: Versions = SUPPORTED[product];
  const check = `${product} version`;
  if (compareByNumbers(version, oldest) < 0)
    return problem(check, `${version} is too old.`, `Upgrade ${product} to ${wanted ?? oldest} or later.`);
  if (wanted !== undefined && compareByNumbers(version, wanted) < 0)
    return warning(check, `${version} works, but ${wanted} or later is better.`, `Plan an upgrade of ${product}.`);
  const major = version.split('.')[0] ?? version;
  if (newest !== undefined && compareByNumbers(major, newest) > 0)
    return warning(
      check,
      `${version} is newer than ${newest}, the newest that was tried.`,
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
  const remedy = 'Let NTP set the clocks of both: times of executions, events and expiries are compared with them.';
  if (Math.abs(aheadMs) >= CLOCK_PROBLEM_MS) return problem(check, message, remedy);
  if (Math.abs(aheadMs) >= CLOCK_WARNING_MS) return warning(check, message, remedy);
  return ok(check, 'It agrees with this machine.');
}

const GIB = 1024 ** 3;
const DISK_PROBLEM_BYTES = GIB;
const DISK_WARNING_BYTES = 5 * GIB;

export function diskFinding(where: string, freeBytes: number): Finding {
  const check = `${where} disk`;
  const message = `${(freeBytes / GIB).toFixed(1)} GiB are free.`;
  const remedy = 'Make room, or lower RETENTION_DAYS: months that are past it leave within the hour.';
  if (freeBytes < DISK_PROBLEM_BYTES) return problem(check, message, remedy);
  return freeBytes < DISK_WARNING_BYTES ? warning(check, message, remedy) : ok(check, message);
}

const LAG_WARNING_S = 60;
const LAG_PROBLEM_S = 600;

/** Something waits; `seconds` is the age of the oldest. */
export function lagFinding(check: string, what: string, count: number, seconds: number, remedy: string): Finding {
  if (count === 0) return ok(check, `No ${what} waits.`);
  const message = `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'} waiting, the oldest for ${Math.round(seconds)} s.`;
  if (seconds >= LAG_PROBLEM_S) return problem(check, message, remedy);
  return seconds >= LAG_WARNING_S ? warning(check, message, remedy) : ok(check, message);
}

/** Versions of migrations that were run, against those that this version of the service brings. */
export function migrationsFinding(store: string, done: number, known: number): Finding {
  const check = `${store} migrations`;
  if (done < known)
    return problem(
      check,
      `${done} of ${known} were run.`,
      'Run `ci-insights migrate`, or start the service, which does it.',
    );
  if (done > known)
    return problem(
      check,
      `${done} were run, and this version knows ${known}: the store belongs to a newer version.`,
      'Run the newer version here: there is no way back but a backup.',
    );
  return ok(check, `All ${known} were run.`);
}

/** @param policy As Redis says it: `noeviction`, `allkeys-lru`, … */
export function evictionFinding(policy: string): Finding {
  return policy === 'noeviction'
    ? ok('Redis memory policy', policy)
    : problem(
        'Redis memory policy',
        `It is ${policy}: jobs, which are uploads not stored yet, may be thrown away.`,
        'Set maxmemory-policy noeviction.',
      );
}

export function persistenceFinding(isAppendOnly: boolean): Finding {
  return isAppendOnly
    ? ok('Redis persistence', 'It keeps an append-only file.')
    : warning(
        'Redis persistence',
        'It keeps no append-only file: a restart may lose uploads that are not stored yet.',
        'Set appendonly yes.',
      );
}
