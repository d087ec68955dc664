/**
 * Merges of the past, as an import tells them. Each gets the entry in the event log that the host's webhook would have made, at the
 * time of the merge; a merge that the log has already gets none.
 */
import { newEvent } from '../src/domain/events.ts';
import { isRetained } from '../src/domain/retention.ts';
import { DAY_MS, dayOf } from '../src/domain/time.ts';
import type { Executor } from '../src/postgres/client.ts';
import { type DatedEvent, recordPastEvents } from '../src/postgres/outbox.ts';
import { noteMerges } from '../src/postgres/pull-requests.ts';
import type { PullRequestVersion } from '../src/queue/pr-events.ts';

export interface Merge {
  number: number;
  event: DatedEvent;
}

interface KeptEvents {
  /** The days of the installation. */
  retentionDays: number;
  /** The days of the repository; null for those of the installation. */
  eventRetentionDays: number | null;
}

/** The merges among some pull requests that the log still keeps at `now`, in order. */
export function mergesOf(versions: readonly PullRequestVersion[], kept: KeptEvents, now: number): Merge[] {
  const merges = new Map<number, Merge>();
  for (const {
    number,
    base_ref: baseRef,
    merge_commit: commit,
    merged_at: mergedAt,
    merged_by: mergedBy,
  } of versions) {
    if (mergedAt == null) continue;
    // The clock of the host may be ahead.
    const at = Math.min(Date.parse(mergedAt), now);
    if (!isLogged(at, kept, now)) continue;
    const trigger = mergedBy ? `@${mergedBy}` : 'import';
    const event = newEvent('action.merge', { branch: baseRef, commit }, { trigger, pullRequest: number, baseRef });
    merges.set(number, { number, event: { event, receivedAt: new Date(at) } });
  }
  return [...merges.values()].sort((one, other) => +one.event.receivedAt - +other.event.receivedAt);
}

const isLogged = (at: number, { retentionDays, eventRetentionDays: own }: KeptEvents, now: number): boolean =>
  isRetained(at, now, retentionDays) && (own === null || at >= (dayOf(now) - own) * DAY_MS);

/** Call it once the pull requests are kept. */
export async function recordMerges(
  tx: Executor,
  repositoryId: string,
  merges: readonly Merge[],
  now: number,
): Promise<void> {
  const isNew = await noteMerges(
    tx,
    repositoryId,
    merges.map(({ number }) => number),
  );
  await recordPastEvents(
    tx,
    repositoryId,
    merges.flatMap(({ number, event }) => (isNew.has(number) ? [event] : [])),
    now,
  );
}
