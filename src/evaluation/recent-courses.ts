/**
 * What this process has lately judged: of each identity its last executions, and what was believed before and among them. A test that
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

/** Part of the course of an identity. */
export interface RecentCourse {
  start: StoredBelief;
  /** Those that passed or failed since the start, in any order: all of them, or those up to the next part. */
  executions: readonly IdentifiedExecution[];
}

/** The end of a course, in parts that follow each other: it can start over at any of them. */
export type RecentParts = readonly [RecentCourse, ...RecentCourse[]];

export interface JudgedCourse {
  /** Whether it began at the end that was stored. */
  isContinued: boolean;
  /** The executions that were judged. */
  added: readonly IdentifiedExecution[];
  recent: RecentParts;
}

/** What is stored of an identity. */
export type StoredEnd = Pick<IdentityRecord, 'belief' | 'summary'>;

interface Entry {
  parts: RecentParts;
  /** What was stored after the last part. */
  end: string;
}

/** Of all identities together: some 45 MiB. What is judged again in every pass must fit. */
const EXECUTIONS_MAX = 300_000;
/** Of one identity; the oldest parts go first. */
const EXECUTIONS_EACH_MAX = 1_000;
/** The least that a part has before another begins. */
const PART_EXECUTIONS = 50;
/** What a part takes beside its executions, in executions. */
const PART_SIZE = 5;

export class RecentCourses {
  readonly #entries = new LRUCache<string, Entry>({
    maxSize: EXECUTIONS_MAX,
    sizeCalculation: ({ parts }) => parts.length * PART_SIZE + executionsIn(parts),
  });

  /**
   * The shortest course that starts before a moment and ends as is stored.
   *
   * @param key of the identity, within its repository
   * @param moment milliseconds since the epoch
   */
  find(repositoryId: string, key: string, stored: StoredEnd, moment: number): RecentCourse | undefined {
    const entry = this.#entries.get(nameOf(repositoryId, key));
    if (entry?.end !== endOf(stored)) return undefined;
    const from = entry.parts.findLastIndex(({ start }) => start.at === null || start.at.finishedAt < moment);
    const first = entry.parts[from];
    return first && { start: first.start, executions: entry.parts.slice(from).flatMap(({ executions }) => executions) };
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
    if (isContinued && before && this.has(repositoryId, key)) {
      this.add(repositoryId, key, added, { before, after });
      return;
    }
    const name = nameOf(repositoryId, key);
    const known = this.#entries.get(name)?.parts ?? [];
    const restart = known.findIndex(({ start }) => start === recent[0].start);
    // What came before the place from which it started over is as it was.
    this.#keep(name, [...known.slice(0, Math.max(0, restart)), ...recent], after);
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
    const { parts, end } = entry;
    if (end !== endOf(before) || !added.every(isAfter(parts[0].start))) this.#entries.delete(name);
    else this.#keep(name, withAdded(parts, added, before.belief), after);
  }

  #keep(name: string, parts: readonly RecentCourse[], after: StoredEnd): void {
    let left = executionsIn(parts);
    const [first, ...others] = parts.filter(({ executions }) => {
      const isKept = left <= EXECUTIONS_EACH_MAX;
      left -= executions.length;
      return isKept;
    });
    if (first) this.#entries.set(name, { parts: [first, ...others], end: endOf(after) });
    else this.#entries.delete(name);
  }
}

function withAdded(
  parts: RecentParts,
  added: readonly IdentifiedExecution[],
  end: StoredBelief,
): readonly RecentCourse[] {
  const last = parts.at(-1) ?? parts[0];
  if (!added.every(isAfter(end))) {
    // They belong somewhere among the parts.
    const executions = [...parts.flatMap((part) => part.executions), ...added];
    return [{ start: parts[0].start, executions }];
  }
  if (last.executions.length >= PART_EXECUTIONS) return [...parts, { start: end, executions: added }];
  return [...parts.slice(0, -1), { start: last.start, executions: [...last.executions, ...added] }];
}

const isAfter =
  ({ at }: StoredBelief) =>
  (execution: IdentifiedExecution): boolean =>
    at === null || comparePositions(execution, at) > 0;

const executionsIn = (parts: readonly RecentCourse[]): number =>
  parts.reduce((sum, { executions }) => sum + executions.length, 0);

const nameOf = (repositoryId: string, key: string): string => `${repositoryId}${key}`;

const endOf = ({ belief, summary }: StoredEnd): string => `${executionsOf(summary)} ${writeBelief(belief)}`;
