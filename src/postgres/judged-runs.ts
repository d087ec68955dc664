/**
 * Runs and what they mean (src/domain/judge-runs.ts). Written by the evaluation, in the transaction of the state of tests.
 */
import { and, eq, gte, lt, sql } from 'drizzle-orm';
import { z } from 'zod';
import { runKey } from '../domain/execution.ts';
import { type KnownRuns, type RunMeaning, runNameOf } from '../domain/judge-runs.ts';
import type { StartedRun, UsualHours } from '../domain/run-surroundings.ts';
import { type RunTrouble, SHARED_MIN, TROUBLE_SHARE_MIN } from '../domain/run-trouble.ts';
import { type Leg, legKey } from '../domain/test-identity.ts';
import { END_OF_TIME, HOUR_MS } from '../domain/time.ts';
import type { Executor } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { judgedRuns } from './schema.ts';

/** Names a run in its repository. */
export interface RunPlace extends Leg {
  /** Days since the epoch. */
  day: number;
  runId: string;
  runAttempt: number;
  /** Empty on the default branch. */
  commit: string;
}

/** Additions of a pass to a run. */
export interface AddedRun extends RunPlace {
  /** When its first execution finished; milliseconds since the epoch. */
  startedAt: number;
  /** Passed and failed. */
  executions: number;
}

export interface PastRun extends AddedRun {
  /** How many tests failed unexpectedly in it: see {@link StoredRun}. */
  unexpectedCount: number;
  /** Null if nothing went wrong in it. */
  meaning: RunMeaning | null;
}

export interface StoredRun extends AddedRun {
  /**
   * The tests that failed in it, or passed only after failed attempts: those that were healthy before it, and the others.
   */
  unexpected: ReadonlySet<string>;
  expected: ReadonlySet<string>;
  /** The failed ones that kept failing. */
  again: ReadonlySet<string>;
  meaning: RunMeaning | null;
}

/** First what is the same for every test of a run. */
const sameForAll = z.tuple([z.number(), z.number(), z.number()]);
const trouble = z.tuple([z.number(), z.number(), z.number(), z.number()]);
const storedMeaning = z.tuple([sameForAll, trouble, trouble]);
const meaning = z
  .string()
  .transform((text) => storedMeaning.parse(JSON.parse(text)))
  .transform(
    ([same, unexpected, expected]): RunMeaning => ({
      unexpected: troubleOf(same, unexpected),
      expected: troubleOf(same, expected),
    }),
  );

const troubleOf = (
  [anyBreaks, together, brokenAfter]: z.infer<typeof sameForAll>,
  [healthyFails, breaks, isShared, lasting]: z.infer<typeof trouble>,
): RunTrouble => ({ healthyFails, anyBreaks, breaks, isShared, lasting, together, brokenAfter });

function writeMeaning({ unexpected, expected }: RunMeaning): string {
  const partsOf = ({ healthyFails, breaks, isShared, lasting }: RunTrouble): z.infer<typeof trouble> => [
    healthyFails,
    breaks,
    isShared,
    lasting,
  ];
  const stored: z.infer<typeof storedMeaning> = [
    [unexpected.anyBreaks, unexpected.together, unexpected.brokenAfter],
    partsOf(unexpected),
    partsOf(expected),
  ];
  return JSON.stringify(stored);
}

const pastColumns = sql`pipeline_name, job_name, axes, day, run_id, run_attempt::float8 as run_attempt, commit_sha,
  started_ms::float8 as started_ms, executions, unexpected_count, meaning`;
const pastRow = z.object({
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  day: z.number(),
  run_id: z.string(),
  run_attempt: z.number(),
  commit_sha: z.string(),
  started_ms: z.number(),
  executions: z.number(),
  unexpected_count: z.number(),
  meaning: meaning.nullable(),
});
const storedColumns = sql`${pastColumns}, unexpected, expected, again`;
const testIds = z.array(z.string()).transform((ids) => new Set(ids));
const storedRow = pastRow.extend({ unexpected: testIds, expected: testIds, again: testIds });

const addedOf = (found: z.infer<typeof pastRow>): AddedRun => ({
  pipelineName: found.pipeline_name,
  jobName: found.job_name,
  axes: found.axes,
  day: found.day,
  runId: found.run_id,
  runAttempt: found.run_attempt,
  commit: found.commit_sha,
  startedAt: found.started_ms,
  executions: found.executions,
});
function pastOf(row: unknown): PastRun {
  const found = pastRow.parse(row);
  return { ...addedOf(found), unexpectedCount: found.unexpected_count, meaning: found.meaning };
}
function storedOf(row: unknown): StoredRun {
  const found = storedRow.parse(row);
  const { unexpected, expected, again } = found;
  return { ...addedOf(found), unexpected, expected, again, meaning: found.meaning };
}

/**
 * Adds executions to runs, and returns these as they are now, with the moments at which they were known to begin before:
 * null if they are new. Each run is given once.
 */
export async function addToRuns(
  tx: Executor,
  repositoryId: string,
  added: readonly AddedRun[],
): Promise<(AddedRun & { knownStart: number | null })[]> {
  if (added.length === 0) return [];
  const { rows } = await tx.execute(sql`
    with added as materialized (select * from unnest(${placeColumns(added)},
        ${plainColumn(added.map(({ startedAt }) => startedAt))}::bigint[],
        ${plainColumn(added.map(({ executions }) => executions))}::integer[])
        as run (pipeline_name, job_name, axes, day, run_id, run_attempt, commit_sha, started_ms, executions)),
      known as materialized (select runs.* from ${judgedRuns} as runs join added
        using (pipeline_name, job_name, axes, day, run_id, run_attempt, commit_sha) where runs.repository_id = ${repositoryId}),
      written as (insert into ${judgedRuns} as before (repository_id, pipeline_name, job_name, axes, day, run_id, run_attempt,
          commit_sha, started_ms, executions, unexpected, expected, again, unexpected_count)
        select ${repositoryId}, added.*, '{}', '{}', '{}', 0 from added
        on conflict (repository_id, pipeline_name, job_name, axes, day, run_id, run_attempt, commit_sha) do update
          set started_ms = least(before.started_ms, excluded.started_ms),
            executions = before.executions + excluded.executions
        returning *)
    select pipeline_name, job_name, axes, day, run_id, run_attempt::float8 as run_attempt, commit_sha,
      written.started_ms::float8 as started_ms, written.executions, written.unexpected_count, written.meaning,
      known.started_ms::float8 as known_ms
    from written left join known using (pipeline_name, job_name, axes, day, run_id, run_attempt, commit_sha)`);
  return rows.map((row) => {
    const found = addedRow.parse(row);
    return { ...addedOf(found), knownStart: found.known_ms };
  });
}

const addedRow = pastRow.extend({ known_ms: z.number().nullable() });

/** The runs that began since a moment, and before another, in order. */
export async function readRuns(
  tx: Executor,
  repositoryId: string,
  since: number,
  until = END_OF_TIME,
): Promise<StoredRun[]> {
  const { rows } = await tx.execute(sql`
    select ${storedColumns} from ${judgedRuns}
    where repository_id = ${repositoryId} and started_ms >= ${since} and started_ms < ${until} order by started_ms`);
  return rows.map(storedOf);
}

/** The runs that began between two moments, in order: without their tests. */
export async function readPastRuns(
  tx: Executor,
  repositoryId: string,
  { from, to }: { from: number; to: number },
): Promise<PastRun[]> {
  const { rows } = await tx.execute(sql`
    select ${pastColumns} from ${judgedRuns}
    where repository_id = ${repositoryId} and started_ms >= ${from} and started_ms < ${to} order by started_ms`);
  return rows.map(pastOf);
}

/**
 * The runs on the default branch that began between two moments, in any order: only what an evaluation adds up. Each
 * evaluation reads those of a day, which may be thousands, so they come as one value.
 */
export async function readRecentRuns(
  tx: Executor,
  repositoryId: string,
  { from, to }: { from: number; to: number },
): Promise<StartedRun[]> {
  const { rows } = await tx.execute(sql`
    select coalesce(json_agg(json_build_array(started_ms, executions, unexpected_count,
      case when unexpected_count >= ${SHARED_MIN} then array[pipeline_name, job_name, axes] end)), '[]') as runs
    from ${judgedRuns}
    where repository_id = ${repositoryId} and commit_sha = '' and started_ms >= ${from} and started_ms < ${to}`);
  return z.tuple([recentRuns]).parse(rows)[0].runs;
}

const recentRuns = z.object({
  runs: z.array(
    z.tuple([z.number(), z.number(), z.number(), z.tuple([z.string(), z.string(), z.string()]).nullable()]).transform(
      ([startedAt, executions, unexpected, leg]): StartedRun => ({
        startedAt,
        executions,
        unexpected,
        // Nothing is said of the others by their place.
        place: leg ? legKey({ pipelineName: leg[0], jobName: leg[1], axes: leg[2] }) : '',
      }),
    ),
  ),
});

/** Meanings of all runs in which something went wrong, by the key of `JudgedRun`. */
export async function readMeanings(tx: Executor, repositoryId: string): Promise<KnownRuns> {
  const { rows } = await tx.execute(sql`
    select ${pastColumns} from ${judgedRuns} where repository_id = ${repositoryId} and meaning is not null`);
  return new Map(
    rows.map((row) => {
      const found = pastRow.parse(row);
      return [nameOfRun(addedOf(found)), { meaning: found.meaning }];
    }),
  );
}

/** The key of `JudgedRun`. */
export const nameOfRun = ({ commit, ...run }: RunPlace): string =>
  runNameOf(legKey(run), commit === '' ? runKey(run) : `${commit}/${runKey(run)}`);

/** The rates of `usualHours`, from the runs that began between two moments. */
export async function readUsualHours(
  tx: Executor,
  repositoryId: string,
  { from, to }: { from: number; to: number },
): Promise<UsualHours> {
  const { rows } = await tx.execute(sql`
    select (started_ms / ${HOUR_MS}::bigint)::float8 as hour, sum(executions)::float8 as executions,
      sum(least(unexpected_count, 1))::float8 as unexpected, count(*)::float8 as runs,
      count(*) filter (where unexpected_count >= greatest(2, ${TROUBLE_SHARE_MIN}::float8 * executions))::float8 as troubled
    from ${judgedRuns}
    where repository_id = ${repositoryId} and commit_sha = '' and started_ms >= ${from} and started_ms < ${to}
    group by 1`);
  return new Map(rows.map((found) => usualRow.parse(found)).map(({ hour, ...count }) => [hour, count]));
}

const usualRow = z.object({
  hour: z.number(),
  executions: z.number(),
  unexpected: z.number(),
  runs: z.number(),
  troubled: z.number(),
});

/** Replaces what runs mean. Each run is given once, and is known. */
export async function writeMeanings(tx: Executor, repositoryId: string, runs: readonly StoredRun[]): Promise<void> {
  if (runs.length === 0) return;
  const ids = (testsOf: (run: StoredRun) => ReadonlySet<string>) =>
    textColumn(runs.map((run) => `{${[...testsOf(run)].join()}}`));
  await tx.execute(sql`
    update ${judgedRuns} as known
    set unexpected = judged.unexpected::uuid[], expected = judged.expected::uuid[], again = judged.again::uuid[],
      unexpected_count = cardinality(judged.unexpected::uuid[]), meaning = nullif(judged.meaning, '')
    from unnest(${placeColumns(runs)}, ${ids(({ unexpected }) => unexpected)}, ${ids(({ expected }) => expected)},
      ${ids(({ again }) => again)},
      ${textColumn(runs.map((run) => (run.meaning ? writeMeaning(run.meaning) : '')))})
      as judged (pipeline_name, job_name, axes, day, run_id, run_attempt, commit_sha, unexpected, expected, again, meaning)
    where known.repository_id = ${repositoryId} and known.pipeline_name = judged.pipeline_name
      and known.job_name = judged.job_name and known.axes = judged.axes and known.day = judged.day and known.run_id = judged.run_id
      and known.run_attempt = judged.run_attempt and known.commit_sha = judged.commit_sha`);
}

/** Runs by what names them, without their tests; those that are not known are missing. */
export async function findRuns(tx: Executor, repositoryId: string, places: readonly RunPlace[]): Promise<PastRun[]> {
  if (places.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${pastColumns} from ${judgedRuns} join unnest(${placeColumns(places)})
      as asked (pipeline_name, job_name, axes, day, run_id, run_attempt, commit_sha)
      using (pipeline_name, job_name, axes, day, run_id, run_attempt, commit_sha)
    where repository_id = ${repositoryId}`);
  return rows.map(pastOf);
}

/** Writes runs that are not known, with what they mean. */
export async function insertRuns(tx: Executor, repositoryId: string, runs: readonly StoredRun[]): Promise<void> {
  await addToRuns(tx, repositoryId, runs);
  await writeMeanings(
    tx,
    repositoryId,
    runs.filter((run) => run.meaning !== null),
  );
}

/** A run off the default branch that a contradiction names, as it is in ClickHouse. */
export interface PullRun extends AddedRun {
  /** The tests that failed in it, or passed only after failed attempts. */
  troubled: ReadonlySet<string>;
}

/** The runs of some commits off the default branch. */
export async function readRunsOn(tx: Executor, repositoryId: string, commits: readonly string[]): Promise<StoredRun[]> {
  if (commits.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select ${storedColumns} from ${judgedRuns}
    where repository_id = ${repositoryId} and commit_sha <> '' and commit_sha = any(${textColumn(commits)})`);
  return rows.map(storedOf);
}

/** Writes runs off the default branch as they are now. What they mean stays until it is judged again. */
export async function writePullRuns(tx: Executor, repositoryId: string, runs: readonly PullRun[]): Promise<void> {
  if (runs.length === 0) return;
  await tx.execute(sql`
    insert into ${judgedRuns} (repository_id, pipeline_name, job_name, axes, day, run_id, run_attempt, commit_sha, started_ms,
      executions, unexpected, expected, again, unexpected_count)
    select ${repositoryId}::uuid, run.*, '{}', '{}', '{}', 0 from unnest(${placeColumns(runs)},
      ${plainColumn(runs.map(({ startedAt }) => startedAt))}::bigint[],
      ${plainColumn(runs.map(({ executions }) => executions))}::integer[]) as run
    on conflict (repository_id, pipeline_name, job_name, axes, day, run_id, run_attempt, commit_sha) do update
      set started_ms = excluded.started_ms, executions = excluded.executions`);
}

/** Forgets runs by what names them. */
export async function removeRuns(tx: Executor, repositoryId: string, runs: readonly RunPlace[]): Promise<void> {
  if (runs.length === 0) return;
  await tx.execute(sql`
    delete from ${judgedRuns} as known using unnest(${placeColumns(runs)})
      as gone (pipeline_name, job_name, axes, day, run_id, run_attempt, commit_sha)
    where known.repository_id = ${repositoryId} and known.pipeline_name = gone.pipeline_name
      and known.job_name = gone.job_name and known.axes = gone.axes and known.day = gone.day and known.run_id = gone.run_id
      and known.run_attempt = gone.run_attempt and known.commit_sha = gone.commit_sha`);
}

/** Forgets the runs of a repository that began between two moments. */
export async function forgetRuns(
  tx: Executor,
  repositoryId: string,
  { from, to }: { from: number; to: number },
): Promise<void> {
  const { repositoryId: repository, startedMs } = judgedRuns;
  await tx.delete(judgedRuns).where(and(eq(repository, repositoryId), gte(startedMs, from), lt(startedMs, to)));
}

const placeColumns = (runs: readonly RunPlace[]) => sql`
  ${textColumn(runs.map(({ pipelineName }) => pipelineName))}, ${textColumn(runs.map(({ jobName }) => jobName))},
  ${textColumn(runs.map(({ axes }) => axes))},
  ${plainColumn(runs.map(({ day }) => day))}::integer[], ${textColumn(runs.map(({ runId }) => runId))},
  ${plainColumn(runs.map(({ runAttempt }) => runAttempt))}::bigint[], ${textColumn(runs.map(({ commit }) => commit))}`;

/** Runs of the default branch within a time in which so many tests failed unexpectedly, without their tests. */
export async function readUnexpectedRuns(
  tx: Executor,
  repositoryId: string,
  { from, to, unexpectedMin }: { from: number; to: number; unexpectedMin: number },
): Promise<PastRun[]> {
  const { rows } = await tx.execute(sql`
    select ${pastColumns} from ${judgedRuns}
    where repository_id = ${repositoryId} and commit_sha = '' and started_ms >= ${from} and started_ms < ${to}
      and unexpected_count >= ${unexpectedMin}`);
  return rows.map(pastOf);
}
