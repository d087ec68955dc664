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
 * A quarantine whose end has come is left out from that moment on, by the clock of PostgreSQL: a worker removes it later.
 *
 * A process never serves an older list of a repository after a newer one, in whatever order PostgreSQL answers.
 */
import { LRUCache } from 'lru-cache';
import { axisScopeText } from '../domain/axis-scope.ts';
import type { EncodedBody } from '../http/reply.ts';
import type { Notifications } from '../postgres/notifications.ts';
import { QUARANTINES_CHANNEL, type Quarantine } from '../postgres/quarantine-records.ts';
import type { QuarantineSnapshot, QuarantineStore } from '../postgres/quarantines.ts';

/** How long a list is served without asking while notifications do not arrive. */
const UNWATCHED_MS = 500;
const LISTS_MAX = 10_000;
const LISTS_BYTES_MAX = 64 * 1024 * 1024;
const ANSWERS_BYTES_MAX = 64 * 1024 * 1024;
/** Bytes of an entry in addition to its texts, and of a character. */
const ENTRY_WEIGHT = 1_000;
const CHARACTER_WEIGHT = 2;
const FAILURE_ID_WEIGHT = 60;

/** The quarantines of one repository that are in force. */
export interface QuarantineList extends Omit<QuarantineSnapshot, 'now'> {
  repositoryId: string;
  byId: ReadonlyMap<string, Quarantine>;
  /** Added to a time since the start of this process, it gives the time of PostgreSQL. */
  clockOffset: number;
  /** When the next of them ends, since the start of this process. */
  nextEndAt: number;
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
    maxSize: LISTS_BYTES_MAX,
    sizeCalculation: weightOf,
  });
  readonly #answers = new LRUCache<string, EncodedBody>({
    maxSize: ANSWERS_BYTES_MAX,
    sizeCalculation: ({ bytes }, key) => bytes.size + key.length * CHARACTER_WEIGHT + ENTRY_WEIGHT,
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
    return isNewEnough(entry) && this.#isWatched(entry) ? inForce(entry) : undefined;
  }

  async #loaded(repositoryId: string, entry: Entry): Promise<QuarantineList> {
    do {
      entry.loading ??= this.#refresh(repositoryId, entry).finally(() => {
        entry.loading = undefined;
      });
      await entry.loading;
    } while (!isNewEnough(entry));
    return inForce(entry);
  }

  /** An answer made from a list, encoded once per `query`, which names what else the answer depends on. */
  encoded(list: QuarantineList, query: string, encode: () => EncodedBody): EncodedBody {
    // Within a revision, a list changes only when quarantines end, and then it is shorter.
    const key = `${list.repositoryId}:${list.revision}:${list.quarantines.length}:${query}`;
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
      if (!entry.list || snapshot.revision >= entry.list.revision)
        entry.list = listOf(repositoryId, snapshot, checkedAt);
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

function listOf(
  repositoryId: string,
  { revision, quarantines, now }: QuarantineSnapshot,
  readAt: number,
): QuarantineList {
  return withQuarantines({ repositoryId, revision, clockOffset: now - readAt }, quarantines);
}

function withQuarantines(
  { repositoryId, revision, clockOffset }: Pick<QuarantineList, 'repositoryId' | 'revision' | 'clockOffset'>,
  quarantines: Quarantine[],
): QuarantineList {
  const ends = quarantines.flatMap(({ expiresAt }) => (expiresAt ? [expiresAt.getTime() - clockOffset] : []));
  return {
    repositoryId,
    revision,
    clockOffset,
    quarantines,
    byId: new Map(quarantines.map((quarantine) => [quarantine.id, quarantine])),
    nextEndAt: ends.reduce((least, end) => Math.min(least, end), Number.POSITIVE_INFINITY),
  };
}

/** The list of an entry without what has ended by now. */
function inForce(entry: Entry & { list: QuarantineList }): QuarantineList {
  const now = performance.now();
  if (now < entry.list.nextEndAt) return entry.list;
  const { quarantines, clockOffset } = entry.list;
  entry.list = withQuarantines(
    entry.list,
    quarantines.filter(({ expiresAt }) => expiresAt === null || expiresAt.getTime() - clockOffset > now),
  );
  return entry.list;
}

function weightOf({ list }: Entry): number {
  const quarantines = list?.quarantines ?? [];
  const weight = quarantines.reduce((sum, quarantine) => sum + weightOfOne(quarantine), 0);
  // A list that exceeds the limit for all lists is kept too, alone.
  return Math.min(weight + ENTRY_WEIGHT, LISTS_BYTES_MAX);
}

function weightOfOne({ failureIds, ...quarantine }: Quarantine): number {
  const { testName, reason, branch, pipelineName, jobName, axes, owner, ticketUrl, actor } = quarantine;
  const legs = axes && axisScopeText(axes);
  const texts = [testName, reason, branch, pipelineName, jobName, legs, owner, ticketUrl, actor];
  const characters = texts.reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return characters * CHARACTER_WEIGHT + (failureIds?.length ?? 0) * FAILURE_ID_WEIGHT + ENTRY_WEIGHT;
}
