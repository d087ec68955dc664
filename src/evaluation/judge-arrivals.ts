/**
 * What blocks brought, judged by src/domain/judge-runs.ts: every run that began no earlier than the first in which
 * something is new, and the identities that this concerns.
 *
 * At first, these are the identities with news; each continues where it ended, if what is new comes later. Of the others
 * that failed in these runs, it is known whether they were healthy before. They are judged again only when what one of
 * their runs means has changed: then they start over before it, from what is stored of their executions. What changes
 * them may change later runs in turn, so this repeats until nothing does.
 */
import type { BeliefCourse } from '../domain/belief-course.ts';
import { comparePositions, isTrouble } from '../domain/execution.ts';
import { judgeRuns, type RunJudgement } from '../domain/judge-runs.ts';
import { POOLED_MS, USUAL_MS } from '../domain/run-trouble.ts';
import { END_OF_TIME, HOUR_MS } from '../domain/time.ts';
import { type StoredBelief, unknownBelief } from '../postgres/belief-text.ts';
import type { Executor } from '../postgres/client.ts';
import { type IdentifiedContradiction, readContradictions } from '../postgres/contradictions.ts';
import {
  type AddedRun,
  nameOfRun,
  readRecentRuns,
  readRuns,
  readUsualHours,
  type StoredRun,
  writeMeanings,
} from '../postgres/judged-runs.ts';
import { type KnownBelief, NOTHING_KNOWN, type Starts, startBefore, withFirst } from './course-starts.ts';
import { placeOf, runNameOfExecution } from './news.ts';
import type { MovedEvidence } from './pull-commits.ts';
import type { RecentCourses, RecentParts } from './recent-courses.ts';
import { partsOf } from './recent-parts.ts';
import { isSameRun, RunInHand } from './run-in-hand.ts';
import {
  type EvaluationStore,
  type IdentifiedExecution,
  type Identity,
  identityIn,
  identityKey,
  testIdIn,
} from './store.ts';
import { StoredHistory } from './stored-history.ts';

/** What is new about an identity. */
export interface Arrival extends Identity {
  /** What was known of it. */
  end: StoredBelief | undefined;
  /** Those that passed or failed, in any order. None if the identity is new, and was only skipped. */
  executions: readonly IdentifiedExecution[];
}

export interface Arrivals {
  /** By `identityKey`. What is calm may be left out. */
  identities: ReadonlyMap<string, Arrival>;
  /** The runs in which something is new, calm or not, with when they were known to begin before. */
  runs: readonly (AddedRun & { knownStart: number | null })[];
  /** What is new off the default branch. */
  pulls: MovedEvidence;
  /** Everything since then is judged again, whether something is new about it or not. */
  againSince: number;
}

export interface ArrivalStores {
  tx: Executor;
  repositoryId: string;
  executions: Pick<EvaluationStore, 'historyOf' | 'newestHistory'>;
  recent: RecentCourses;
  /** Ids of executions that may be stored, and are neither counted nor among the arrivals. */
  readUncounted(): Promise<ReadonlySet<bigint>>;
  /** By `identityKey`, of these tests: every identity, and what was believed of others when a month left. */
  readBeliefs(testIds: readonly string[]): Promise<ReadonlyMap<string, KnownBelief>>;
}

/** An identity that was judged, from a place on. */
export interface JudgedIdentity extends Identity {
  start: StoredBelief;
  /** If it started over: the places up to `start`. What was found after `start` before no longer counts. */
  restart: Starts | undefined;
  executions: readonly IdentifiedExecution[];
  course: BeliefCourse;
  /** What to remember of it. */
  recent: RecentParts;
}

/** Judges what is new, writes what runs mean, and returns the identities that were judged, by `identityKey`. */
export async function judgeArrivals(stores: ArrivalStores, arrivals: Arrivals): Promise<Map<string, JudgedIdentity>> {
  const { tx, repositoryId } = stores;
  const { pulls } = arrivals;
  const againSince = Math.min(arrivals.againSince, pulls.againSince);
  // Skipped executions, and those off the default branch that contradict nothing, are in no run.
  const since = Math.min(
    END_OF_TIME,
    againSince,
    ...arrivals.runs.map(({ startedAt }) => startedAt),
    ...pulls.runs.map(({ startedAt, knownStart }) => Math.min(startedAt, knownStart ?? startedAt)),
    ...pulls.moved.values(),
  );
  if (since === END_OF_TIME && arrivals.identities.size === 0) return new Map();
  const runs = (await readRuns(tx, repositoryId, since)).map((run) => new RunInHand(run));
  const judgement = new Judgement(stores, since, runs);
  judgement.add({ ...arrivals, againSince });
  return judgement.settle();
}

/** An identity in hand. */
type InHand = Omit<JudgedIdentity, 'course' | 'recent'>;

class Judgement {
  readonly #identities = new Map<string, InHand>();
  /** Identities to start over, and the moment before which they must start. */
  readonly #behind = new Map<string, number>();
  readonly #runs: ReadonlyMap<string, RunInHand>;
  /** Identities with news: their new executions. */
  readonly #arrived = new Map<string, readonly IdentifiedExecution[]>();
  /**
   * Those that have never run on the default branch: what is believed of them counts in runs. Until their contradictions
   * leave with a month, it follows from these, and is not stored.
   */
  readonly #strangers = new Set<string>();
  /** By identity; of those that start over, are new, or have moved ones. */
  readonly #contradictions = new Map<string, readonly IdentifiedContradiction[]>();
  #moved: MovedEvidence['moved'] = new Map();
  readonly #stored: StoredHistory;

  constructor(
    private readonly stores: ArrivalStores,
    private readonly since: number,
    runs: readonly RunInHand[],
  ) {
    this.#runs = new Map(runs.map((run) => [run.name, run]));
    this.#stored = new StoredHistory(stores, this.#runs);
  }

  add({ identities, runs, pulls, againSince }: Arrivals): void {
    for (const [key, arrival] of identities) this.#addArrival(key, arrival);
    this.#moved = pulls.moved;
    for (const [key, at] of pulls.moved) this.#startBefore(key, at);
    for (const run of pulls.runs) this.#addPullRun(run);
    // Whether its tests were healthy before it is asked for an earlier moment.
    for (const { startedAt, knownStart, ...run } of runs)
      if (knownStart !== null && startedAt < knownStart) this.#startOver(this.#runs.get(nameOfRun(run)));
    for (const run of this.#runs.values()) if (run.stored.startedAt >= againSince) this.#startOver(run);
  }

  #addPullRun({ troubled, knownStart, ...run }: MovedEvidence['runs'][number]): void {
    const inHand = this.#runs.get(nameOfRun(run));
    if (!inHand) return;
    const known = new Set([...troubled].map((testId) => inHand.keyOf(testId)));
    for (const key of inHand.members.keys()) if (!known.has(key)) inHand.members.delete(key);
    if (knownStart !== null && run.startedAt !== knownStart) this.#startOver(inHand);
    for (const key of known)
      if (!inHand.members.has(key)) {
        inHand.members.set(key, undefined);
        this.#startBefore(key, run.startedAt);
      }
  }

  #addArrival(key: string, { end, executions, ...identity }: Arrival): void {
    this.#arrived.set(key, executions);
    const start = end ?? unknownBelief();
    let before = Number.POSITIVE_INFINITY;
    for (const execution of executions) {
      if (start.at && comparePositions(execution, start.at) <= 0) before = Math.min(before, execution.finishedAt);
      const run = isTrouble(execution) ? this.#runs.get(runNameOfExecution(execution)) : undefined;
      if (!run || run.members.has(key)) continue;
      run.members.set(key, undefined);
      if (start.at && start.at.finishedAt >= run.stored.startedAt) before = Math.min(before, run.stored.startedAt);
    }
    const { testId, pipelineName, jobName } = identity;
    this.#identities.set(key, { testId, pipelineName, jobName, start, restart: undefined, executions });
    if (before < Number.POSITIVE_INFINITY) this.#behind.set(key, before);
  }

  /** Those in the run that do not start before it. */
  #startOver(run: RunInHand | undefined): void {
    if (!run) return;
    for (const key of run.members.keys()) this.#startBefore(key, run.stored.startedAt);
  }

  #startBefore(key: string, moment: number): void {
    if (!this.#startsBefore(key, moment)) this.#behind.set(key, Math.min(moment, this.#behind.get(key) ?? moment));
  }

  /** Of what is older than its baseline, nothing is known any more. */
  #startsBefore(key: string, moment: number): boolean {
    const inHand = this.#identities.get(key);
    if (!inHand) return false;
    const { start, restart } = inHand;
    return start.at === null || start.at.finishedAt < moment || start === restart?.[0];
  }

  async settle(): Promise<Map<string, JudgedIdentity>> {
    const { tx, repositoryId } = this.stores;
    const before = (from: number) => ({ from, to: this.since });
    const recent = await readRecentRuns(tx, repositoryId, before(this.since - POOLED_MS));
    const usual = await readUsualHours(tx, repositoryId, before(this.since - POOLED_MS - USUAL_MS - HOUR_MS));
    await this.#readStarts();
    for (;;) {
      await this.#readBehind();
      await this.#readContradictions();
      const { runs, courses } = judgeRuns({
        recent,
        usual,
        known: this.#stored.runs,
        runs: this.#toJudge(),
        identities: this.#all(),
      });
      for (const run of runs) {
        const known = this.#runs.get(run.key);
        if (JSON.stringify(run.meaning) !== JSON.stringify(known?.stored.meaning)) this.#startOver(known);
      }
      if (this.#behind.size > 0) continue;
      await this.#write(runs);
      const meanings: Map<string, Pick<RunJudgement, 'meaning'>> = new Map(this.#stored.runs);
      for (const run of runs) meanings.set(run.key, run);
      return new Map(
        [...this.#identities].flatMap(([key, inHand]) => {
          const course = courses.get(key);
          if (!course || this.#strangers.has(key)) return [];
          const recent = partsOf(inHand, this.#contradictions.get(key) ?? [], meanings);
          return [[key, { ...inHand, course, recent }]];
        }),
      );
    }
  }

  #toJudge() {
    return [...this.#runs.values()].map(({ name, stored, members }) => {
      const troubled = new Set<string>();
      const others = { unexpected: 0, expected: 0 };
      for (const [key, wasHealthy] of members)
        if (this.#isJudgedIn(key, stored, wasHealthy)) troubled.add(key);
        else others[wasHealthy ? 'unexpected' : 'expected']++;
      const { startedAt, executions, commit } = stored;
      return { key: name, startedAt, executions, isOnDefaultBranch: commit === '', troubled, others };
    });
  }

  /** Whether it follows from the course of the identity that it was healthy before the run. Otherwise it is known. */
  #isJudgedIn(key: string, { startedAt }: StoredRun, wasHealthy: boolean | undefined): boolean {
    return wasHealthy === undefined || this.#startsBefore(key, startedAt);
  }

  #all() {
    return new Map(
      [...this.#identities].map(([key, { start, executions, ...identity }]) => [
        key,
        { ...start, executions, place: placeOf(identity), contradictions: this.#contradictions.get(key) ?? [] },
      ]),
    );
  }

  /** What has never run on the default branch begins with what was believed of it when a month left. */
  async #readStarts(): Promise<void> {
    const first = [...this.#identities].filter(([, { start }]) => start.at === null);
    if (first.length === 0) return;
    const known = await this.stores.readBeliefs([...new Set(first.map(([key]) => testIdIn(key)))]);
    for (const [key, identity] of first) {
      const { stored, starts } = known.get(key) ?? NOTHING_KNOWN;
      if (!stored && starts[0].at) this.#identities.set(key, { ...identity, start: starts[0], restart: [starts[0]] });
    }
  }

  /** Lets the identities that are behind start over. */
  async #readBehind(): Promise<void> {
    if (this.#behind.size === 0) return;
    const known = await this.stores.readBeliefs([...new Set([...this.#behind.keys()].map(testIdIn))]);
    const behind = [...this.#behind].flatMap(([key, moment]) => {
      const { stored, starts } = known.get(key) ?? NOTHING_KNOWN;
      return stored ? [{ key, stored, baseline: starts[0], moment, news: this.#arrived.get(key) ?? [] }] : [];
    });
    const recent = await this.#stored.recent(behind);
    const near = await this.#stored.near(behind.filter(({ key }) => !recent.has(key)));
    const from = new Map<string, number>();
    const read: string[] = [];
    for (const [key, before] of this.#behind) {
      const found = known.get(key);
      const { testId, pipelineName, jobName } = identityIn(key);
      const { start, restart } = startBefore(found ?? NOTHING_KNOWN, before);
      const identity = { testId, pipelineName, jobName, start, restart, executions: [] };
      const course = recent.get(key) ?? near.get(key);
      if (course) {
        this.#identities.set(key, { ...identity, ...course, restart: withFirst(restart, course.start) });
        continue;
      }
      this.#identities.set(key, identity);
      if (!found?.stored && !this.#arrived.has(key)) {
        this.#strangers.add(key);
        continue;
      }
      read.push(key);
      from.set(key, start.at?.finishedAt ?? 0);
    }
    this.#behind.clear();
    if (read.length === 0) return;
    const histories = Map.groupBy(await this.#stored.since(from), identityKey);
    for (const key of read) {
      const identity = this.#identities.get(key);
      if (identity) this.#identities.set(key, { ...identity, executions: histories.get(key) ?? [] });
    }
  }

  /** Of an identity that continues from its end, nothing is asked that its belief has taken in. */
  async #readContradictions(): Promise<void> {
    const due = [...this.#identities].flatMap(([key, { start, restart }]) =>
      !this.#contradictions.has(key) && (start.at === null || restart !== undefined || this.#moved.has(key))
        ? [key]
        : [],
    );
    const { tx, repositoryId } = this.stores;
    const read = await readContradictions(tx, repositoryId, [...new Set(due.map(testIdIn))]);
    const byIdentity = Map.groupBy(read, identityKey);
    for (const key of due) this.#contradictions.set(key, byIdentity.get(key) ?? []);
    const commits = new Set<string>();
    for (const [key, found] of this.#contradictions) {
      const start = this.#identities.get(key)?.start.at;
      for (const { at, failure } of found) if (!start || comparePositions(at, start) > 0) commits.add(failure.commit);
    }
    await this.#stored.readRunsOn(commits);
  }

  async #write(runs: readonly RunJudgement[]): Promise<void> {
    const changed = runs.flatMap((run) => {
      const known = this.#runs.get(run.key);
      if (!known) return [];
      const after = known.toStore(run, (key) => this.#isJudgedIn(key, known.stored, known.members.get(key)));
      return isSameRun(after, known.stored) ? [] : [after];
    });
    await writeMeanings(this.stores.tx, this.stores.repositoryId, changed);
  }
}
