/**
 * Judges runs of a repository and the suspects that went wrong in them (src/domain/judge-runs.ts): those that are given, and
 * those whose runs turn out to mean something else. Each suspect is folded from before its recent executions. Of the others
 * that went wrong in these runs, it is known whether they were healthy before.
 *
 *     given suspects ──► judge the runs ──► a run means something else ──► load its other suspects ──┐
 *                             ▲                                                                      │
 *                             └──────────────────────────────────────────────────────────────────────┘
 *
 * If a judgement needs more history than a suspect carries, that is noted as stale. Reads PostgreSQL only, and writes
 * nothing.
 */
import type { BeliefCourse } from '../domain/belief-course.ts';
import { comparePositions, isTrouble } from '../domain/execution.ts';
import { addMember, type FailedMember, judgeRuns, noneFailed, type RunJudgement } from '../domain/judge-runs.ts';
import { POOLED_MS, USUAL_MS } from '../domain/run-trouble.ts';
import { reachesBackTo, type Suspect, startOf } from '../domain/suspect.ts';
import {
  type Identity,
  identityIn,
  identityKey,
  identityOf,
  legKey,
  legOf,
  testIdIn,
} from '../domain/test-identity.ts';
import { HOUR_MS } from '../domain/time.ts';
import type { Executor } from '../postgres/client.ts';
import { type IdentifiedClue, readCluesFrom } from '../postgres/clues.ts';
import {
  findRuns,
  nameOfRun,
  type PastRun,
  type RunPlace,
  readRecentRuns,
  readRuns,
  readRunsOn,
  readUsualHours,
  type StoredRun,
} from '../postgres/judged-runs.ts';
import { readSuspects } from '../postgres/suspects.ts';
import type { Span } from './executions.ts';
import { isSameMeaning, isSameRun, RunUnderJudgement, runPlaceOf } from './run-under-judgement.ts';

/** A suspect that was judged. */
export interface JudgedSuspect extends Identity {
  /** The suspect before it was judged, with all of its executions. */
  suspect: Suspect;
  course: BeliefCourse;
}

export interface JudgingResult {
  /** By `identityKey`. */
  suspects: ReadonlyMap<string, JudgedSuspect>;
  /** Runs that are to be written. */
  runs: readonly StoredRun[];
}

const NEVER_FAILED: FailedMember = { wasHealthy: true, keepsFailing: false };

export class Judging {
  readonly #suspects = new Map<string, Identity & { suspect: Suspect }>();
  /** By `identityKey`. */
  readonly #clues = new Map<string, readonly IdentifiedClue[]>();
  /** By name: those that are judged, and what earlier ones mean that suspects name. */
  readonly #judged: ReadonlyMap<string, RunUnderJudgement>;
  readonly #earlier = new Map<string, Pick<PastRun, 'meaning'>>();
  /** Names of runs, commits and identities that were asked for. */
  readonly #asked = new Set<string>();
  #staleSince = Number.POSITIVE_INFINITY;
  readonly #staleTests = new Set<string>();

  private constructor(
    private readonly tx: Executor,
    private readonly repositoryId: string,
    private readonly span: Span,
    runs: readonly StoredRun[],
  ) {
    this.#judged = new Map(runs.map((run) => [nameOfRun(run), new RunUnderJudgement(run)]));
  }

  /** @param span the runs to judge are those that began in it */
  static async of(tx: Executor, repositoryId: string, span: Span): Promise<Judging> {
    return new Judging(tx, repositoryId, span, await readRuns(tx, repositoryId, span.from, span.to));
  }

  /** Whether nothing went wrong in any of the runs. */
  get isWithoutTrouble(): boolean {
    return this.#judged.values().every(({ members }) => members.size === 0);
  }

  /** The earliest moment from which on judgements are stale now, and of which tests. Undefined if none are. */
  get stale(): { since: number; testIds: ReadonlySet<string> } | undefined {
    return this.#staleTests.size === 0 ? undefined : { since: this.#staleSince, testIds: this.#staleTests };
  }

  /** A run that is judged. */
  run(name: string): RunUnderJudgement | undefined {
    return this.#judged.get(name);
  }

  get runs(): Iterable<RunUnderJudgement> {
    return this.#judged.values();
  }

  /** Gives a suspect with all of its executions. */
  add(identity: Identity, suspect: Suspect): void {
    const key = identityKey(identity);
    this.#asked.add(key);
    this.#suspects.set(key, { ...identityOf(identity), suspect });
  }

  /** Notes that more history is needed to judge a test since a moment. */
  noteStale(testId: string, since: number): void {
    this.#staleTests.add(testId);
    this.#staleSince = Math.min(this.#staleSince, since);
  }

  /** An identity went wrong in a run that is judged. */
  addMember(run: RunUnderJudgement, key: string): void {
    if (run.members.has(key)) return;
    run.members.set(key, undefined);
    this.#askAgain(run, key);
  }

  /** A run turned out to have begun earlier: whether its members were healthy is asked for an earlier moment. */
  async startedEarlier(run: RunUnderJudgement): Promise<void> {
    await this.#load(run.members.keys());
    for (const key of run.members.keys()) this.#askAgain(run, key);
  }

  #askAgain(run: RunUnderJudgement, key: string): void {
    const known = this.#suspects.get(key);
    if (known && !reachesBackTo(known.suspect, run.startedAt)) this.noteStale(testIdIn(key), run.startedAt);
  }

  /** Loads those of some identities that are suspects. Returns whether there was any. */
  async #load(keys: Iterable<string>): Promise<boolean> {
    const missing = [...new Set(keys)].filter((key) => !this.#asked.has(key));
    if (missing.length === 0) return false;
    for (const key of missing) this.#asked.add(key);
    const wanted = new Set(missing);
    let found = false;
    for (const one of await readSuspects(this.tx, this.repositoryId, [...new Set(missing.map(testIdIn))])) {
      const key = identityKey(one);
      if (!wanted.has(key)) continue;
      this.#suspects.set(key, { ...identityOf(one), suspect: one.suspect });
      found = true;
    }
    return found;
  }

  async settle(): Promise<JudgingResult> {
    const { tx, repositoryId, span } = this;
    const before = (from: number) => ({ from, to: span.from });
    const recent = await readRecentRuns(tx, repositoryId, before(span.from - POOLED_MS));
    const usual = await readUsualHours(tx, repositoryId, before(span.from - POOLED_MS - USUAL_MS - HOUR_MS));
    for (;;) {
      await this.#readClues();
      await this.#readEarlierRuns();
      const { runs, courses } = judgeRuns({
        recent,
        usual,
        known: this.#earlier,
        runs: [...this.#judged.values()].map((run) => this.#toJudge(run)),
        identities: this.#identities(),
      });
      const changed = runs.flatMap((run) => {
        const known = this.#judged.get(run.key);
        return known && !isSameMeaning(run.meaning, known.meaning) ? [known] : [];
      });
      if (await this.#load(changed.flatMap(({ members }) => [...members.keys()]))) continue;
      for (const run of changed) for (const key of run.members.keys()) this.#askAgain(run, key);
      return this.#result(runs, courses);
    }
  }

  #toJudge(run: RunUnderJudgement) {
    const troubled = new Set<string>();
    const others = noneFailed();
    for (const [key, member] of run.members)
      if (this.#isJudgedIn(key, run)) troubled.add(key);
      // Only suspects may have been anything else than healthy.
      else addMember(others, member ?? NEVER_FAILED);
    const { startedAt, executions, commit } = run.stored;
    return { key: run.name, place: run.job, startedAt, executions, isOnDefaultBranch: commit === '', troubled, others };
  }

  /** Whether it follows from the course of the identity that it was healthy before the run. Otherwise it is known. */
  #isJudgedIn(key: string, run: RunUnderJudgement): boolean {
    const known = this.#suspects.get(key);
    return known !== undefined && reachesBackTo(known.suspect, run.startedAt);
  }

  #identities() {
    return new Map(
      [...this.#suspects].map(([key, { suspect, ...identity }]) => [
        key,
        {
          ...startOf(suspect),
          place: legKey(identity),
          clues: (this.#clues.get(key) ?? []).filter(({ at }) => at.finishedAt < this.span.to),
        },
      ]),
    );
  }

  async #readClues(): Promise<void> {
    const due = [...this.#suspects].filter(([key]) => !this.#clues.has(key));
    const starts = due.map(([, { suspect, ...identity }]) => ({ ...identity, start: suspect.before.at }));
    const read = await readCluesFrom(this.tx, this.repositoryId, starts);
    const byIdentity = Map.groupBy(read, identityKey);
    for (const [key] of due) this.#clues.set(key, byIdentity.get(key) ?? []);
  }

  /** By name, and not by time: in a month, a large repository has tens of thousands of runs in which something failed. */
  async #readEarlierRuns(): Promise<void> {
    const places = new Map<string, RunPlace>();
    const commits = new Set<string>();
    for (const [key, { suspect }] of this.#suspects) {
      const leg = legOf(identityIn(key));
      for (const execution of suspect.recent) {
        if (!isTrouble(execution)) continue;
        const place = runPlaceOf({ ...execution, ...leg });
        const name = nameOfRun(place);
        if (!this.#judged.has(name) && !this.#asked.has(name)) places.set(name, place);
      }
      const { at: start } = suspect.before;
      for (const { at, failure } of this.#clues.get(key) ?? [])
        if ((!start || comparePositions(at, start) > 0) && !this.#asked.has(failure.commit))
          commits.add(failure.commit);
    }
    for (const name of [...places.keys(), ...commits]) this.#asked.add(name);
    const found = [
      ...(await findRuns(this.tx, this.repositoryId, [...places.values()])),
      ...(await readRunsOn(this.tx, this.repositoryId, [...commits])),
    ];
    for (const run of found) {
      const name = nameOfRun(run);
      if (!this.#judged.has(name)) this.#earlier.set(name, run);
    }
  }

  #result(judgements: readonly RunJudgement[], courses: ReadonlyMap<string, BeliefCourse>): JudgingResult {
    const runs: StoredRun[] = [];
    for (const judgement of judgements) {
      const run = this.#judged.get(judgement.key);
      if (!run) continue;
      const stored = run.toStore(
        judgement,
        (key) => judgement.members.get(key) ?? run.members.get(key) ?? NEVER_FAILED,
      );
      if (!isSameRun(stored, run.stored)) runs.push(stored);
    }
    const suspects = new Map(
      [...this.#suspects].flatMap(([key, { suspect, ...identity }]): [string, JudgedSuspect][] => {
        const course = courses.get(key);
        return course ? [[key, { ...identity, suspect, course }]] : [];
      }),
    );
    return { suspects, runs };
  }
}
