/**
 * Brings the one comment of a pull request to what the service says now. Jobs do this at the same time, so each continues until
 * it finds nothing to change: the last one to look has written the newest answer, and of two comments the older one stays.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HostError } from '../api/host-error.ts';
import { isSameCommit } from '../remote.ts';
import type { CommentHost } from './comment-host.ts';
import { plain, readMarked, withMarker } from './marker.ts';

export interface Wanted {
  text: string;
  /** Whether a pull request without the comment gets it: something failed that no quarantine excuses. */
  isWorthOne: boolean;
}

export interface Subject {
  host: CommentHost;
  commit: string;
  /** markerKey */
  key: string;
  /** Asks the service; null if the comment must stay as it is. */
  read(): Promise<Wanted | null>;
  /** Whether it was there before, on this commit. If it is gone now, a person deleted it. */
  wasThere(): Promise<boolean>;
  /** When the first result of the commit arrived. */
  firstResultAt(): Promise<number>;
}

/**
 * - `edited`, `deleted`: by a person, which is respected.
 * - `outdated`: the pull request has a newer commit, whose jobs write the comment.
 */
export type Kept = 'written' | 'updated' | 'unchanged' | 'nothing' | 'edited' | 'deleted' | 'outdated';

/** The comment is there then, as the service keeps it or as a person left it. */
export const isThere = (kept: Kept): boolean => THERE.includes(kept);
const THERE: readonly Kept[] = ['written', 'updated', 'unchanged', 'edited'];

const ROUNDS_MAX = 5;
const CREATE_ATTEMPTS_MAX = 3;
const LOOK_AFTER_MS = 500;

/** Throws what the host and the service throw. */
export async function keepComment(subject: Subject): Promise<Kept> {
  let done: Kept | undefined;
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const kept = await step(subject);
    if (!kept.isChanged) return kept.what === 'unchanged' || kept.what === 'nothing' ? (done ?? kept.what) : kept.what;
    done ??= kept.what;
  }
  return done ?? 'unchanged';
}

async function step({
  host,
  commit,
  key,
  read,
  wasThere,
  firstResultAt,
}: Subject): Promise<{ what: Kept; isChanged: boolean }> {
  const head = await host.head();
  if (!isSameCommit(head, commit)) return { what: 'outdated', isChanged: false };
  const wanted = await read();
  if (wanted === null) return { what: 'nothing', isChanged: false };
  const ours = (await host.ownComments()).flatMap(({ id, body }) => {
    const marked = readMarked(key, body);
    return marked ? [{ id, ...marked }] : [];
  });
  const [kept, ...newer] = ours;
  for (const { id, isEdited } of newer) if (!isEdited) await host.remove(id);
  if (!kept) {
    if (!wanted.isWorthOne) return { what: 'nothing', isChanged: false };
    if ((await wasThere()) || (await host.wasDeletedSince(await firstResultAt())))
      return { what: 'deleted', isChanged: false };
    await createOrLook(host, key, withMarker(key, wanted.text, host.marker));
    return { what: 'written', isChanged: true };
  }
  if (kept.isEdited) return { what: 'edited', isChanged: false };
  if (kept.text === plain(wanted.text)) return { what: 'unchanged', isChanged: false };
  await host.update(kept.id, withMarker(key, wanted.text, host.marker));
  return { what: 'updated', isChanged: true };
}

/** If the answer to a creation was lost, the comment is looked for before it is created again. */
async function createOrLook(host: CommentHost, key: string, body: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await host.create(body);
    } catch (error) {
      if (!(error instanceof HostError && error.isUncertain) || attempt === CREATE_ATTEMPTS_MAX) throw error;
    }
    await sleep(LOOK_AFTER_MS * attempt);
    const own = await host.ownComments();
    if (own.some((comment) => readMarked(key, comment.body))) return;
  }
}
