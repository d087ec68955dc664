/**
 * What this process has lately judged: of each identity its last executions, and what was believed before them. A test that
 * fails in overlapping runs starts over in every pass, and reading its history from ClickHouse took most of a pass.
 *
 * An entry counts only while the identity is stored exactly as it was left. A further execution, counted by any process,
 * changes how many there are, and anything else that changes the course changes what is believed in the end.
 */
import { LRUCache } from 'lru-cache';
import { comparePositions } from '../domain/execution.ts';
import { executionsOf } from '../domain/test-state.ts';
import { type StoredBelief, writeBelief } from '../postgres/belief-text.ts';
import type { IdentityRecord } from '../postgres/test-states.ts';
import type { IdentifiedExecution } from './store.ts';

/** Part of the course of an identity up to its end: at least the executions that passed or failed since the start. */
export interface RecentCourse {
  start: StoredBelief;
  executions: readonly IdentifiedExecution[];
}

export interface JudgedCourse {
  /** Whether it began at the end that was stored. */
  isContinued: boolean;
  /** The executions that were judged. */
  added: readonly IdentifiedExecution[];
  recent: RecentCourse;
}

/** What is stored of an identity. */
export type StoredEnd = Pick<IdentityRecord, 'belief' | 'summary'>;

interface Entry extends RecentCourse {
  end: string;
}

/** Of all identities together: some 15 MiB. */
const EXECUTIONS_MAX = 100_000;
/** Of one identity. A course that is judged is cut before that (judge-arrivals.ts). */
const EXECUTIONS_EACH_MAX = 4_000;

export class RecentCourses {
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: EXECUTIONS_MAX,
    sizeCalculation: ({ executions }) => executions.length + 1,
  });

  /** @param key of the identity, within its repository */
  find(repositoryId: string, key: string, stored: StoredEnd): RecentCourse | undefined {
    const entry = this.#entries.get(nameOf(repositoryId, key));
    return entry?.end === endOf(stored) ? entry : undefined;
  }

  has(repositoryId: string, key: string): boolean {
    return this.#entries.has(nameOf(repositoryId, key));
  }

  /**
   * Remembers an identity that was judged: its course from the start, or what continued from its end.
   *
   * @param before what was stored of it; undefined if it is new
   */
  judged(
    repositoryId: string,
    key: string,
    { isContinued, added, recent }: JudgedCourse,
    { before, after }: { before: StoredEnd | undefined; after: StoredEnd },
  ): void {
    if (isContinued && before && this.has(repositoryId, key)) this.add(repositoryId, key, added, { before, after });
    else this.#keep(nameOf(repositoryId, key), { ...recent, end: endOf(after) });
  }

  /** Adds executions to what is known of an identity, if that is how it was stored before them. */
  add(
    repositoryId: string,
    key: string,
    added: readonly IdentifiedExecution[],
    { before, after }: { before: StoredEnd; after: StoredEnd },
  ): void {
    const name = nameOf(repositoryId, key);
    const entry = this.#entries.get(name);
    if (!entry) return;
    const { start, executions, end } = entry;
    const { at } = start;
    const isBehind = added.some((one) => at !== null && comparePositions(one, at) <= 0);
    if (end !== endOf(before) || isBehind) this.#entries.delete(name);
    else this.#keep(name, { start, executions: [...executions, ...added], end: endOf(after) });
  }

  #keep(name: string, entry: Entry): void {
    if (entry.executions.length > EXECUTIONS_EACH_MAX) this.#entries.delete(name);
    else this.#entries.set(name, entry);
  }
}

const nameOf = (repositoryId: string, key: string): string => `${repositoryId}${key}`;

const endOf = ({ belief, summary }: StoredEnd): string => `${executionsOf(summary)} ${writeBelief(belief)}`;
