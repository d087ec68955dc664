/** The repositories that a credential may read. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { formatMoment } from '../domain/moment.ts';
import { SERIES_DAYS, seriesStart } from '../domain/repository-stats.ts';
import type { Grant } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { forbidden } from '../http/problems.ts';
import { overviewOf, type RepositoryOverview } from '../postgres/repository-overview.ts';
import { TtlCache } from '../ttl-cache.ts';
import * as common from './common.ts';

/** How old the days may be: a page asks every fifteen seconds, for everyone who looks at it. */
const DAYS_KEPT_MS = 10_000;
/** Reads of all repositories take their turn as one owner's. */
const EVERY_OWNER = '*';

const repositoryDays = defineQuery(
  'insights/repository_days',
  { start_ms: 'Int64' },
  z.object({ repository_id: z.string(), last_ms: z.number(), days: z.array(z.tuple([z.number(), z.number()])) }),
);
type RepositoryDays = z.infer<typeof repositoryDays.row>;

const count = (description: string, example: number) => z.int().meta({ description, example });
const response = z.object({
  repositories: z.array(
    z
      .object({
        owner: z.string().meta({ example: 'acme' }),
        repository: z.string().meta({ example: 'shop' }),
        default_branch: z.string().nullable().meta({ description: 'Null if it is not known yet', example: 'main' }),
        created_at: common.dateTimeOut.meta({ description: 'When something was first stored for it' }),
        tests: count('Tests that ever ran on the default branch', 1_204),
        flaky_tests: count('Of these, flaky in one of their pipelines and CI jobs, and broken in none', 12),
        broken_tests: count('Of these, broken in one of their pipelines and CI jobs', 3),
        quarantined_tests: count('Tests with a quarantine, on whatever branch', 4),
        recovered_tests: count('Of these, with one that could be removed', 1),
        failed_executions_by_day: common.failuresByDayOut(', as of the last ten seconds'),
        last_run_at: common.dateTimeOut.nullable().meta({
          description: `When the newest execution finished, on any branch; null: none in these ${SERIES_DAYS} days`,
        }),
        last_upload_at: common.dateTimeOut.nullable().meta({
          description: 'When its newest upload arrived that a worker has taken; null: none in 30 days',
        }),
        ingest_lag_seconds: z.number().nullable().meta({
          description: 'From then until that upload was stored; while it is not, until now. Null if there is no upload',
          example: 0.4,
        }),
      })
      .meta({ id: 'RepositorySummary' }),
  ),
});
export type RepositoryList = z.output<typeof response>;

type Summary = RepositoryList['repositories'][number];

const NO_DAYS: RepositoryDays = { repository_id: '', last_ms: 0, days: [] };

function toJson(found: RepositoryOverview, { last_ms, days }: RepositoryDays, now: number): Summary {
  const byDay = new Map(days);
  const { received_ms: received, stored_ms: stored } = found;
  return {
    owner: found.owner,
    repository: found.name,
    default_branch: found.default_branch,
    created_at: formatMoment(found.created_ms),
    tests: found.tests,
    flaky_tests: found.flaky,
    broken_tests: found.broken,
    quarantined_tests: found.quarantined,
    recovered_tests: found.recovered,
    failed_executions_by_day: Array.from({ length: SERIES_DAYS }, (_, day) => byDay.get(day) ?? 0),
    last_run_at: last_ms === 0 ? null : formatMoment(last_ms),
    last_upload_at: received === null ? null : formatMoment(received),
    ingest_lag_seconds: received === null ? null : Math.max(0, (stored ?? now) - received) / 1_000,
  };
}

const failuresOf = ({ failed_executions_by_day: days }: Summary): number => days.reduce((sum, day) => sum + day, 0);
const pathOf = ({ owner, repository }: Summary): string => `${owner}/${repository}`.toLowerCase();

/** The most trouble first. */
const byTrouble = (one: Summary, other: Summary): number =>
  other.broken_tests - one.broken_tests ||
  other.flaky_tests - one.flaky_tests ||
  failuresOf(other) - failuresOf(one) ||
  (pathOf(one) < pathOf(other) ? -1 : 1);

/** Null: every one. */
const namesOf = ({ owner, repositories }: Grant): { owner: string | null; names: readonly string[] | null } => ({
  owner: owner?.toLowerCase() ?? null,
  names: repositories?.map((name) => name.toLowerCase()) ?? null,
});

export function mountRepositories(app: AnyElysia, http: Http, { db, clickhouse, clock }: common.InsightsDeps): void {
  const kept = new TtlCache<ReadonlyMap<string, RepositoryDays>>(DAYS_KEPT_MS, 1);
  const daysSince = (start: number) =>
    kept.get(String(start), async () => {
      const rows = await clickhouse.select(repositoryDays, { start_ms: start }, { owner: EVERY_OWNER });
      return new Map(rows.map((row) => [row.repository_id, row]));
    });

  mount(app, http, 'GET', '/v1/repositories', {
    operationId: 'listRepositories',
    tag: common.TAG,
    summary: 'List the repositories that the credential may read',
    description:
      'With the health of their tests now, how often they failed in the last two weeks, and when they last ran; those with the most broken tests first, then those with the most flaky ones, then those with the most failures. A token of the repository host has no list: ask for a repository by its name.',
    access: 'credential',
    responses: { 200: { description: 'The repositories.', schema: response } },
    handle: async ({ credential }) => {
      if (!credential?.grant)
        throw forbidden('A token of the repository host has no list of repositories. Send an application key.');
      const now = clock.now();
      const [found, days] = await Promise.all([overviewOf(db, namesOf(credential.grant)), daysSince(seriesStart(now))]);
      const summaries = found.map((one) => toJson(one, days.get(one.id) ?? NO_DAYS, now));
      return { body: { repositories: summaries.sort(byTrouble) } };
    },
  });
}
