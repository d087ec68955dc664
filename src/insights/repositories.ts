/** The repositories that a credential may read. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { ACTIVE_DAYS, activeSince } from '../domain/activity.ts';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { firstDayOf, SERIES_DAYS, seriesStart } from '../domain/repository-stats.ts';
import { dayOf } from '../domain/time.ts';
import type { Grant } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, type PagedList, type PageRequest, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, perPageParameter, textParameter } from '../http/parameters.ts';
import { forbidden } from '../http/problems.ts';
import { type ListedRepositories, overviewOf, type RepositoryOverview } from '../postgres/repository-overview.ts';
import * as common from './common.ts';
import { wholeAmong } from './pages-in-memory.ts';

const count = (description: string, example: number) => z.int().meta({ description, example });
const response = z.object({
  total: count('Repositories on all pages', 10_000),
  repositories: z.array(
    z
      .object({
        owner: z.string().meta({ example: 'acme' }),
        repository: z.string().meta({ example: 'shop' }),
        default_branch: z.string().nullable().meta({ description: 'Null if it is not known yet', example: 'main' }),
        created_at: common.dateTimeOut.meta({ description: 'When something was first stored for it' }),
        tests: count('Tests that ever ran on the default branch', 1_204),
        flaky_tests: count('Of these, flaky in one of their pipelines and CI jobs, and broken in none', 12),
        active_flaky_tests: count(
          `Of the flaky ones, those that failed on their own in the last ${ACTIVE_DAYS} UTC days; the others are calm`,
          7,
        ),
        broken_tests: count('Of these, broken in one of their pipelines and CI jobs', 3),
        quarantined_tests: count('Tests with a quarantine, on whatever branch', 4),
        recovered_tests: count('Of these, with one that could be removed', 1),
        failed_executions_by_day: common.failuresByDayOut(),
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

function toJson(found: RepositoryOverview, now: number): Summary {
  const failures = new Map(found.failures);
  const { received_ms: received, stored_ms: stored } = found;
  return {
    owner: found.owner,
    repository: found.name,
    default_branch: found.default_branch,
    created_at: formatMoment(found.created_ms),
    tests: found.tests,
    flaky_tests: found.flaky,
    active_flaky_tests: activeAmong(found.flaky_days, now),
    broken_tests: found.broken,
    quarantined_tests: found.quarantined,
    recovered_tests: found.recovered,
    failed_executions_by_day: Array.from({ length: SERIES_DAYS }, (_, i) => failures.get(firstDayOf(now) + i) ?? 0),
    last_run_at: found.newest_ms < seriesStart(now) ? null : formatMoment(found.newest_ms),
    last_upload_at: received === null ? null : formatMoment(received),
    ingest_lag_seconds: received === null ? null : Math.max(0, (stored ?? now) - received) / 1_000,
  };
}

/** @param days day on which flaky tests last failed on their own, how many tests, day, … */
function activeAmong(days: readonly number[], now: number): number {
  const first = dayOf(activeSince(now));
  let active = 0;
  for (let i = 0; i + 1 < days.length; i += 2) if ((days[i] ?? 0) >= first) active += days[i + 1] ?? 0;
  return active;
}

const failuresOf = ({ failed_executions_by_day: days }: Summary): number => days.reduce((sum, day) => sum + day, 0);
const pathOf = ({ owner, repository }: Summary): string => `${owner}/${repository}`.toLowerCase();

type Key = [broken: number, flaky: number, failures: number, path: string];
const keyOf = (one: Summary): Key => [one.broken_tests, one.flaky_tests, failuresOf(one), pathOf(one)];

/** The most trouble first. */
const compareKeys = (one: Key, other: Key): number =>
  other[0] - one[0] || other[1] - one[1] || other[2] - one[2] || (one[3] === other[3] ? 0 : one[3] < other[3] ? -1 : 1);

const byTrouble: PagedList<Summary, Key> = {
  name: 'repositories',
  keySchema: z.tuple([z.int(), z.int(), z.int(), z.string()]),
  keyOf,
};

/** In order of their keys. */
function sorted(summaries: readonly Summary[]): Summary[] {
  const keyed = summaries.map((one) => ({ one, key: keyOf(one) }));
  return keyed.sort((a, b) => compareKeys(a.key, b.key)).map(({ one }) => one);
}

/** The rows beyond the key, nearest first. */
function beyond(rows: readonly Summary[], { key, direction, perPage }: PageRequest<Key>): Summary[] {
  const [ordered, sign] = direction === 'next' ? [rows, 1] : [rows.toReversed(), -1];
  const whole = key && wholeAmong(key, rows, keyOf);
  const from = whole === null ? 0 : ordered.findIndex((one) => sign * compareKeys(keyOf(one), whole) > 0);
  return from < 0 ? [] : ordered.slice(from, from + perPage + 1);
}

export const listedFor = ({ owner, repositories }: Grant, part: string | undefined): ListedRepositories => ({
  owner: owner?.toLowerCase() ?? null,
  names: repositories?.map((name) => name.toLowerCase()) ?? null,
  part: part?.toLowerCase() ?? null,
});

export function mountRepositories(app: AnyElysia, http: Http, { db, clock }: common.InsightsDeps): void {
  mount(app, http, 'GET', '/v1/repositories', {
    operationId: 'listRepositories',
    tag: common.TAG,
    summary: 'List the repositories that the credential may read',
    description:
      'With the health of their tests now, how often they failed in the last two weeks, and when they last ran; those with the most broken tests first, then those with the most flaky ones, then those with the most failures. Without `per_page` and `cursor`, the whole list; else pages. A repository whose numbers change while one reads pages may be on two of them, or on none. A token of the repository host has no list: ask for a repository by its name.',
    access: 'credential',
    query: {
      name: textParameter(1, 2 * NAME_LENGTH_MAX + 1, {
        description: 'Only repositories with this in `owner/repository`; in upper or lower case.',
        example: 'acme/',
      }),
      cursor: cursorParameter(),
      per_page: perPageParameter(null),
    },
    responses: { 200: { description: 'The repositories.', schema: response, headers: LINK } },
    handle: async ({ credential, query, url }) => {
      if (!credential?.grant)
        throw forbidden('A token of the repository host has no list of repositories. Send an application key.');
      const listed = listedFor(credential.grant, query.name);
      const now = clock.now();
      const found = sorted((await overviewOf(db, listed, firstDayOf(now))).map((one) => toJson(one, now)));
      const total = found.length;
      if (query.per_page === undefined && query.cursor === undefined) return { body: { total, repositories: found } };
      const asked = {
        path: {},
        query,
        filters: { ...listed },
        window: noWindow,
        url: publicUrlOf(http.publicUrl, url),
      };
      const { items, headers } = await readPage(byTrouble, asked, (page) => Promise.resolve(beyond(found, page)));
      return { body: { total, repositories: items }, headers };
    },
  });
}
