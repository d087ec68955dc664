/** What changed lately in the repositories that a credential may read: one answer for all of them. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { noTurns, TURNS, type Turn, turnsOf } from '../domain/health-transitions.ts';
import { formatMoment } from '../domain/moment.ts';
import { firstDayOf } from '../domain/repository-stats.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import type { Grant } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { forbidden } from '../http/problems.ts';
import { onPostgres } from '../postgres/client.ts';
import { type HealthCourse, readCoursesOfRepositories } from '../postgres/health-courses.ts';
import { overviewOf, type RepositoryOverview } from '../postgres/repository-overview.ts';
import { type RepositoryTrouble, readTroubles } from '../postgres/week-of-repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import { causeIdOut } from './cause-schemas.ts';
import * as common from './common.ts';
import { listedFor } from './repositories.ts';

const WEEK_DAYS = 7;
/** If there are more, those with the most unhealthy tests. */
const REPOSITORIES_MAX = 50;
/** Tests counted of one repository; the page of the repository counts up to five times as many. */
const TESTS_MAX = 200;
const KEPT_MS = 30_000;
const KEPT_MAX = 200;

const count = (description: string, example: number) => z.int().meta({ description, example });
const changedSchema = z
  .object({
    owner: z.string().meta({ example: 'acme' }),
    repository: z.string().meta({ example: 'shop' }),
    broken_tests: count('Tests that are broken now', 3),
    flaky_tests: count('Tests that are flaky now', 12),
    turns: z.object(Object.fromEntries(TURNS.map((turn) => [turn, z.int()]))).meta({
      description: `How often tests turned in the last ${WEEK_DAYS} times 24 hours; of the ${TESTS_MAX} tests that changed last`,
      example: Object.fromEntries(TURNS.map((turn, i) => [turn, i === 0 ? 1 : 0])),
    }),
    red_runs: z.object({
      this_week: count('Runs with a failed test, on any branch', 18),
      week_before: count(`The same in the ${WEEK_DAYS} days before`, 25),
      on_default_branch: count('Those of this week on the default branch', 4),
    }),
    worst_cause: z
      .object({
        cause_id: causeIdOut,
        exception_type: z.string().meta({ example: 'ConnectionError' }),
        exception_message: z.string().meta({ example: 'connect ECONNREFUSED <address1>' }),
        failure_count: count('Failed attempts on the default branch this week', 42),
        test_count: count('Tests that failed by it', 9),
      })
      .nullable()
      .meta({ description: 'The cause of the most failures this week; null: nothing failed' }),
    ingest: z.object({
      refused_uploads: count('Uploads refused as a whole this week; those that are alike count from the first', 0),
      has_problems: z.boolean().meta({ description: 'Whether an upload of this week has a rejected or odd row' }),
      is_waiting: z.boolean().meta({ description: 'Whether the newest upload is not stored yet' }),
    }),
    last_run_at: common.dateTimeOut.nullable().meta({ description: 'Null: none in two weeks' }),
  })
  .meta({ id: 'RepositoryChanges' });
const response = z.object({
  total: count('Repositories that the credential may read', 3),
  since: common.dateTimeOut.meta({ description: `The beginning of this week: ${WEEK_DAYS} UTC days, with today` }),
  repositories: z.array(changedSchema),
});
export type RepositoryChangeList = z.output<typeof response>;
type Changed = RepositoryChangeList['repositories'][number];

const redRunsOfRepositories = defineQuery(
  'insights/red_runs_of_repositories',
  { repository_ids: 'Array(UUID)', from_day: 'UInt16' },
  z.object({ repository_id: z.string(), began_day: z.int(), red_runs: z.int(), on_default_branch: z.int() }),
);

export function mountRepositoryChanges(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const kept = new TtlCache<RepositoryChangeList>(KEPT_MS, KEPT_MAX);
  mount(app, http, 'GET', '/v1/repositories/changes', {
    operationId: 'listRepositoryChanges',
    tag: common.TAG,
    summary: 'List what changed in the repositories that the credential may read',
    description: `Of the last ${WEEK_DAYS} UTC days: tests that turned broken or flaky, recovered or were fixed, red runs beside those of the week before, the cause of the most failures, and trouble with uploads. At most ${REPOSITORIES_MAX} repositories: those with the most broken tests, then with the most flaky ones. The most trouble of this week comes first. Up to half a minute old.`,
    access: 'credential',
    responses: { 200: { description: 'The repositories.', schema: response } },
    handle: async ({ credential }) => {
      const grant = credential?.grant;
      if (!grant)
        throw forbidden('A token of the repository host has no list of repositories. Send an application key.');
      const { owner, repositories } = grant;
      const today = dayOf(deps.clock.now());
      return {
        body: await kept.get(JSON.stringify([owner?.toLowerCase(), repositories, today]), () =>
          readChanges(deps, grant),
        ),
      };
    },
  });
}

async function readChanges(
  { clickhouse, clock, db }: common.InsightsDeps,
  grant: Grant,
): Promise<RepositoryChangeList> {
  const now = clock.now();
  const sinceDay = dayOf(now) - WEEK_DAYS + 1;
  const since = sinceDay * DAY_MS;
  // Counted like the transitions of a repository.
  const turnedSince = now + 1 - WEEK_DAYS * DAY_MS;
  const all = await overviewOf(db, listedFor(grant, undefined), firstDayOf(now));
  const listed = all
    .toSorted(
      (one, other) => other.broken - one.broken || other.flaky - one.flaky || failuresOf(other) - failuresOf(one),
    )
    .slice(0, REPOSITORIES_MAX);
  const ids = listed.map(({ id }) => id);
  const head = { total: all.length, since: formatMoment(since) };
  if (ids.length === 0) return { ...head, repositories: [] };
  const [changed, troubles, red] = await Promise.all([
    onPostgres(() => readCoursesOfRepositories(db, ids, { since: turnedSince, testsMax: TESTS_MAX })),
    onPostgres(() => readTroubles(db, ids, { since, sinceDay })),
    clickhouse.select(
      redRunsOfRepositories,
      { repository_ids: ids, from_day: sinceDay - WEEK_DAYS },
      { owner: grant.owner ?? '', signal: undefined },
    ),
  ]);
  const turns = turnsByRepository(changed, turnedSince);
  const troubleOf = new Map(troubles.map((trouble) => [trouble.repositoryId, trouble]));
  const redOf = Map.groupBy(red, (row) => row.repository_id);
  const rows = listed.map((one) => {
    const days = redOf.get(one.id) ?? [];
    const week = days.filter((day) => day.began_day >= sinceDay);
    const sum = (some: typeof days): number => some.reduce((total, day) => total + day.red_runs, 0);
    const redRuns = {
      this_week: sum(week),
      week_before: sum(days) - sum(week),
      on_default_branch: week.reduce((total, day) => total + day.on_default_branch, 0),
    };
    return toJson(one, { turns: turns.get(one.id) ?? noTurns(), redRuns, trouble: troubleOf.get(one.id), now });
  });
  return { ...head, repositories: rows.sort(byTrouble) };
}

const failuresOf = ({ failures }: RepositoryOverview): number => failures.reduce((sum, [, failed]) => sum + failed, 0);

function turnsByRepository(changed: readonly HealthCourse[], since: number): Map<string, Record<Turn, number>> {
  const found = new Map<string, Record<Turn, number>>();
  for (const { repositoryId, identities } of changed) {
    const counts = found.get(repositoryId) ?? noTurns();
    found.set(repositoryId, counts);
    for (const { at, turn } of turnsOf(identities)) if (at >= since) counts[turn]++;
  }
  return found;
}

interface Found {
  turns: Record<Turn, number>;
  redRuns: Changed['red_runs'];
  trouble: RepositoryTrouble | undefined;
  now: number;
}

const toJson = (one: RepositoryOverview, { turns, redRuns, trouble, now }: Found): Changed => ({
  owner: one.owner,
  repository: one.name,
  broken_tests: one.broken,
  flaky_tests: one.flaky,
  turns,
  red_runs: redRuns,
  worst_cause: trouble?.cause
    ? {
        cause_id: trouble.cause.id,
        exception_type: trouble.cause.exceptionType,
        exception_message: trouble.cause.message,
        failure_count: trouble.cause.failures,
        test_count: trouble.cause.tests,
      }
    : null,
  ingest: {
    refused_uploads: trouble?.refusedUploads ?? 0,
    has_problems: trouble?.hasUploadProblem ?? false,
    is_waiting: one.received_ms !== null && one.stored_ms === null,
  },
  last_run_at: one.newest_ms < firstDayOf(now) * DAY_MS ? null : formatMoment(one.newest_ms),
});

/** The most trouble of this week first; then in order of their paths. */
function byTrouble(one: Changed, other: Changed): number {
  const key = ({ turns, red_runs: red, broken_tests: broken }: Changed) => [
    turns.turned_broken ?? 0,
    broken,
    red.on_default_branch,
    turns.turned_flaky ?? 0,
    red.this_week,
  ];
  const [mine, others] = [key(one), key(other)];
  const place = mine.findIndex((value, i) => value !== others[i]);
  if (place >= 0) return (others[place] ?? 0) - (mine[place] ?? 0);
  return `${one.owner}/${one.repository}` < `${other.owner}/${other.repository}` ? -1 : 1;
}
