/**
 * The quarantines of repositories in memory: every CI job of every repository asks for them, and they change a few times
 * a day.
 *
 * A list of a repository is in one of these states:
 *
 * - *absent*: loaded with the next request; requests at the same time share the load.
 * - *current*: served without asking PostgreSQL.
 * - *outdated*: a higher revision is known, from a change in this process, which reports its revision before it is
 *   answered, or from a notification of another process. The next request loads the list again.
 * - *unwatched*: notifications do not arrive. The revision is asked for instead, at most twice a second.
 *
 * A process never serves an older list of a repository after a newer one, in whatever order PostgreSQL answers.
 */
import { LRUCache } from 'lru-cache';
import type { EncodedBody } from '../http/reply.ts';
import type { Notifications } from '../postgres/notifications.ts';
import { QUARANTINES_CHANNEL, type Quarantine } from '../postgres/quarantine-records.ts';
import type { QuarantineSnapshot, QuarantineStore } from '../postgres/quarantines.ts';

/** How long a list is served without asking while notifications do not arrive. */
const UNWATCHED_MS = 500;
const LISTS_MAX = 10_000;
const LISTS_CHARACTERS_MAX = 64 * 1024 * 1024;
const ANSWERS_BYTES_MAX = 64 * 1024 * 1024;
/** Weight of an entry in addition to its texts. */
const ENTRY_WEIGHT = 1_000;
const FAILURE_ID_WEIGHT = 60;

/** The quarantines of one repository at one moment. */
export interface QuarantineList extends QuarantineSnapshot {
  repositoryId: string;
  byId: ReadonlyMap<string, Quarantine>;
}

interface Entry {
  list: QuarantineList | undefined;
  /** A list with a lower revision is outdated. */
  revisionMin: number;
  /** When the list was last known to be current, and which notification connection has been watching since. */
  checkedAt: number;
  epoch: number;
  loading: Promise<void> | undefined;
}

export class QuarantineLists {
  readonly #entries = new LRUCache<string, Entry>({
    max: LISTS_MAX,
    maxSize: LISTS_CHARACTERS_MAX,
    sizeCalculation: weightOf,
  });
  readonly #answers = new LRUCache<string, EncodedBody>({
    maxSize: ANSWERS_BYTES_MAX,
    sizeCalculation: ({ bytes }, key) => bytes.size + key.length + ENTRY_WEIGHT,
  });
  #epoch = 0;

  constructor(
    private readonly store: QuarantineStore,
    private readonly notifications: Notifications,
  ) {
    store.onChange(({ repositoryId, revision }) => this.#note(repositoryId, revision));
    notifications.listen(QUARANTINES_CHANNEL, {
      onNotify: (payload) => {
        const [repositoryId = '', revision] = payload.split(':');
        this.#note(repositoryId, Number(revision));
      },
      onConnect: () => {
        this.#epoch++;
      },
    });
  }

  /** The repository's quarantines: no older than any list served before, and than any change answered before. */
  async get(repositoryId: string): Promise<QuarantineList> {
    let entry = this.#entries.get(repositoryId);
    if (!entry) {
      entry = { list: undefined, revisionMin: 0, checkedAt: Number.NEGATIVE_INFINITY, epoch: -1, loading: undefined };
      this.#entries.set(repositoryId, entry);
    }
    return this.#current(entry) ?? (await this.#loaded(repositoryId, entry));
  }

  /** The same, if it is in memory now and known to be current. */
  recall(repositoryId: string): QuarantineList | undefined {
    const entry = this.#entries.get(repositoryId);
    return entry && this.#current(entry);
  }

  #current(entry: Entry): QuarantineList | undefined {
    return isNewEnough(entry) && this.#isWatched(entry) ? entry.list : undefined;
  }

  async #loaded(repositoryId: string, entry: Entry): Promise<QuarantineList> {
    do {
      entry.loading ??= this.#refresh(repositoryId, entry).finally(() => {
        entry.loading = undefined;
      });
      await entry.loading;
    } while (!isNewEnough(entry));
    return entry.list;
  }

  /** An answer made from a list, encoded once per `query`, which names what else the answer depends on. */
  encoded(list: QuarantineList, query: string, encode: () => EncodedBody): EncodedBody {
    const key = `${list.repositoryId}:${list.revision}:${query}`;
    const known = this.#answers.get(key);
    if (known) return known;
    const made = encode();
    this.#answers.set(key, made);
    return made;
  }

  #note(repositoryId: string, revision: number): void {
    const entry = this.#entries.peek(repositoryId);
    if (entry && revision > entry.revisionMin) entry.revisionMin = revision;
  }

  #isWatched({ epoch, checkedAt }: Entry): boolean {
    if (this.notifications.isConnected) return epoch === this.#epoch;
    return performance.now() - checkedAt < UNWATCHED_MS;
  }

  /** Loads the list, or confirms that the one in memory is still current. */
  async #refresh(repositoryId: string, entry: Entry): Promise<void> {
    // The time before the question: a change that is reported meanwhile raises revisionMin.
    const checkedAt = performance.now();
    const epoch = this.#epoch;
    const isKept = isNewEnough(entry) && (await this.store.revision(repositoryId)) === entry.list.revision;
    if (!isKept) {
      const snapshot = await this.store.snapshot(repositoryId);
      if (!entry.list || snapshot.revision >= entry.list.revision) entry.list = listOf(repositoryId, snapshot);
      entry.revisionMin = Math.max(entry.revisionMin, entry.list.revision);
      // Its weight has changed, and the cache asks for it only when the entry is set.
      if (this.#entries.delete(repositoryId)) this.#entries.set(repositoryId, entry);
    }
    entry.checkedAt = checkedAt;
    entry.epoch = epoch;
  }
}

const isNewEnough = (entry: Entry): entry is Entry & { list: QuarantineList } =>
  entry.list !== undefined && entry.list.revision >= entry.revisionMin;

const listOf = (repositoryId: string, snapshot: QuarantineSnapshot): QuarantineList => ({
  repositoryId,
  ...snapshot,
  byId: new Map(snapshot.quarantines.map((quarantine) => [quarantine.id, quarantine])),
});

function weightOf({ list }: Entry): number {
  const quarantines = list?.quarantines ?? [];
  const weight = quarantines.reduce(
    (sum, { testName, reason, failureIds }) =>
      sum + testName.length + reason.length + (failureIds?.length ?? 0) * FAILURE_ID_WEIGHT + ENTRY_WEIGHT,
    0,
  );
  // A list that exceeds the limit for all lists is kept too, alone.
  return Math.min(weight + ENTRY_WEIGHT, LISTS_CHARACTERS_MAX);
}
