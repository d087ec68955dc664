/** What is stored of identities that start over: their executions, and the runs in which something went wrong. */
import { appendAll } from '../domain/append.ts';
import { comparePositions, isTrouble } from '../domain/execution.ts';
import { DAY_MS, END_OF_TIME } from '../domain/time.ts';
import type { StoredBelief } from '../postgres/belief-text.ts';
import { findStoredRuns, type RunPlace, readRunsOn, type StoredRun } from '../postgres/judged-runs.ts';
import type { ArrivalStores } from './judge-arrivals.ts';
import { mayStartNear, nearStart } from './near-start.ts';
import { runNameOfExecution } from './news.ts';
import { splitByRecency } from './recency.ts';
import type { RecentCourse, StoredEnd } from './recent-courses.ts';
import { RunInHand } from './run-in-hand.ts';
import { runPlaceOf } from './runs-of-executions.ts';
import { type IdentifiedExecution, identityIn, identityKey, testIdIn } from './store.ts';

/** An identity that must start before a moment. */
interface BehindIdentity {
  /** `identityKey`. */
  key: string;
  stored: StoredEnd;
  /** Of what is older, nothing is known any more. */
  baseline: StoredBelief;
  moment: number;
  /** Executions that the end does not know. */
  news: readonly IdentifiedExecution[];
}

const isFrom = ({ at: first }: StoredBelief, { at }: StoredBelief): boolean =>
  first === null || (at !== null && comparePositions(at, first) >= 0);

/**
 * How long before a moment the last execution is looked for. Most tests that run often have one in the last hour, but a second
 * statement for the others takes longer than a day takes in one.
 */
const NEAR_MS = DAY_MS;

export class StoredHistory {
  readonly #runs = new Map<string, RunInHand>();
  /** What was asked for: names of runs, and commits. */
  readonly #asked = new Set<string>();

  /** @param judged the runs that are judged, by name */
  constructor(
    private readonly stores: Omit<ArrivalStores, 'readBeliefs'>,
    private readonly judged: ReadonlyMap<string, RunInHand>,
  ) {}

  /** By name: runs from before those that are judged, as far as anything was read that went wrong in them. */
  get runs(): ReadonlyMap<string, RunInHand> {
    return this.#runs;
  }

  /** Reads the runs of commits off the default branch. */
  async readRunsOn(commits: Iterable<string>): Promise<void> {
    const { tx, repositoryId } = this.stores;
    this.#add(await readRunsOn(tx, repositoryId, this.#unasked(commits)));
  }

  /** What passed or failed of some identities, named by `identityKey`, since a moment of each. */
  async since(from: ReadonlyMap<string, number>): Promise<IdentifiedExecution[]> {
    const { executions } = this.stores;
    const { recent, older } = splitByRecency(from);
    const read: IdentifiedExecution[] = [];
    for (const some of [recent, older])
      if (some.size > 0)
        appendAll(read, await executions.historyOf([...some.keys()].map(identityIn), Math.min(...some.values())));
    return this.#inKnownRuns(await this.#counted(read));
  }

  /** Of those that this process has judged lately: what it knows of them. Others are left out. */
  async recent(behind: readonly BehindIdentity[]): Promise<ReadonlyMap<string, RecentCourse>> {
    const { repositoryId, recent } = this.stores;
    const found = behind.flatMap(({ key, stored, baseline, moment, news }) => {
      const course = recent.find(repositoryId, key, stored, moment);
      return course && isFrom(baseline, course.start)
        ? [{ key, ...course, executions: [...course.executions, ...news] }]
        : [];
    });
    await this.#readRunsOfTrouble(found.flatMap(({ executions }) => executions));
    return new Map(
      found.map(({ key, start, executions }) => [
        key,
        { start, executions: executions.filter((one) => this.#isInKnownRun(one)) },
      ]),
    );
  }

  /**
   * Most tests that fail while they run in several runs at once have passed for long. Of those that are behind by nothing but
   * passes, what they were before follows from what they are, and little of their history is read. Others are left out.
   */
  async near(behind: readonly BehindIdentity[]): Promise<ReadonlyMap<string, RecentCourse>> {
    const asked = behind.filter(({ stored, moment }) => mayStartNear(stored.belief, moment));
    if (asked.length === 0) return new Map();
    const since = new Map<string, number>();
    for (const { key, moment } of asked) {
      const testId = testIdIn(key);
      since.set(testId, Math.min(moment, since.get(testId) ?? moment));
    }
    const identities = asked.map(({ key }) => identityIn(key));
    const sinceOf = (testId: string): number => since.get(testId) ?? END_OF_TIME;
    const counted = await this.#counted(await this.stores.executions.newestHistory(identities, sinceOf, NEAR_MS));
    const histories = Map.groupBy(await this.#inKnownRuns(counted), identityKey);
    return new Map(
      asked.flatMap(({ key, stored, moment, news }): [string, RecentCourse][] => {
        const executions = histories.get(key) ?? [];
        const unknown = new Set(news.map(({ executionId }) => executionId));
        const known = executions.filter(({ executionId }) => !unknown.has(executionId));
        const start = nearStart(stored.belief, known, moment);
        return start ? [[key, { start, executions }]] : [];
      }),
    );
  }

  /**
   * What is stored and not counted yet is left to the evaluation that counts it: what is believed in the end must follow from
   * what is counted, and from nothing else.
   */
  async #counted(read: readonly IdentifiedExecution[]): Promise<IdentifiedExecution[]> {
    // After the executions: what was uncounted when they were read still is.
    const uncounted = await this.stores.readUncounted();
    return read.filter(({ executionId }) => !uncounted.has(executionId));
  }

  /** Without what went wrong in a run that is no longer known. */
  async #inKnownRuns(executions: readonly IdentifiedExecution[]): Promise<IdentifiedExecution[]> {
    await this.#readRunsOfTrouble(executions);
    return executions.filter((one) => this.#isInKnownRun(one));
  }

  /** By name, and not by time: in a month, a large repository has tens of thousands of runs in which something failed. */
  async #readRunsOfTrouble(executions: readonly IdentifiedExecution[]): Promise<void> {
    const { tx, repositoryId } = this.stores;
    const places = new Map<string, RunPlace>();
    for (const one of executions) if (isTrouble(one)) places.set(runNameOfExecution(one), runPlaceOf(one));
    const names = this.#unasked([...places.keys()].filter((name) => !this.judged.has(name)));
    const asked = names.flatMap((name) => places.get(name) ?? []);
    this.#add(await findStoredRuns(tx, repositoryId, asked));
  }

  #unasked(names: Iterable<string>): string[] {
    const unasked = [...new Set(names)].filter((name) => !this.#asked.has(name));
    for (const name of unasked) this.#asked.add(name);
    return unasked;
  }

  #add(runs: readonly StoredRun[]): void {
    for (const run of runs.map((stored) => new RunInHand(stored)))
      if (!this.judged.has(run.name)) this.#runs.set(run.name, run);
  }

  #isInKnownRun(execution: IdentifiedExecution): boolean {
    if (!isTrouble(execution)) return true;
    const name = runNameOfExecution(execution);
    const run = this.judged.get(name) ?? this.#runs.get(name);
    return run?.members.has(identityKey(execution)) ?? false;
  }
}
