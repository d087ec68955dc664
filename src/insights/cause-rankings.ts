/**
 * Causes in the order of their failures or tests in a window. To add up the days of every cause takes as long for a page as for
 * the whole list, so it is added up once after each refresh of the causes, and pages are taken from memory.
 */
import { type CauseKey, type CauseOrder, type CauseSelection, findCauseIds } from '../postgres/cause-lists.ts';
import { causesRevision } from '../postgres/causes.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { TtlCache } from '../ttl-cache.ts';

/** In a repository with more causes, each page is read from the store. */
const RANKED_MAX = 20_000;
/** 20 lists of as many causes take 60 MB. */
const KEPT_MAX = 20;
const KEPT_MS = 600_000;

interface RankedCause {
  cause_id: string;
  value: number;
}

export class CauseRankings {
  readonly #kept = new TtlCache<readonly RankedCause[]>(KEPT_MS, KEPT_MAX);

  constructor(private readonly db: Database) {}

  /** The same as {@link findCauseIds}. */
  async page(repositoryId: string, selection: CauseSelection, order: CauseOrder): Promise<readonly RankedCause[]> {
    const ranked =
      order.sort === 'newest' || isFiltered(selection) ? null : await this.#of(repositoryId, selection, order);
    if (ranked === null || ranked.length === RANKED_MAX)
      return onPostgres(() => findCauseIds(this.db, repositoryId, selection, order));
    const { key, direction, limit } = order;
    if (direction === 'next') {
      const from = key === null ? 0 : countBefore(ranked, (one) => compare(one, key) >= 0);
      return ranked.slice(from, from + limit);
    }
    const to = key === null ? ranked.length : countBefore(ranked, (one) => compare(one, key) > 0);
    return ranked.slice(Math.max(0, to - limit), to).reverse();
  }

  async #of(repositoryId: string, selection: CauseSelection, { sort }: CauseOrder): Promise<readonly RankedCause[]> {
    const revision = await onPostgres(() => causesRevision(this.db, repositoryId));
    const whole = { sort, key: null, direction: 'next', limit: RANKED_MAX } as const;
    return this.#kept.get(JSON.stringify([repositoryId, revision, sort, selection.days]), () =>
      onPostgres(() => findCauseIds(this.db, repositoryId, selection, whole)),
    );
  }
}

const isFiltered = ({ words, phrases, healths, owners, among }: CauseSelection): boolean =>
  words !== '' || phrases.length + healths.length > 0 || owners !== null || among !== null;

/** Positive: before the key, in the order of the list. */
const compare = ({ value, cause_id: id }: RankedCause, [keyValue, keyId]: CauseKey): number =>
  value - keyValue || (id === keyId ? 0 : id > keyId ? 1 : -1);

/** How many causes there are up to the first of which it does not hold. */
function countBefore(ranked: readonly RankedCause[], holds: (one: RankedCause) => boolean): number {
  let [low, high] = [0, ranked.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const one = ranked[middle];
    if (one && holds(one)) low = middle + 1;
    else high = middle;
  }
  return low;
}
