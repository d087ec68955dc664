/** One statistic of a repository as a series of days. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { formatMoment } from '../domain/moment.ts';
import {
  firstDayOf,
  type RepositoryDay,
  RepositoryTotals,
  SERIES_DAYS,
  seriesOf,
  seriesStart,
} from '../domain/repository-stats.ts';
import { DAY_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { onPostgres } from '../postgres/client.ts';
import { readIdentityDays } from '../postgres/identity-days.ts';
import type { Repository } from '../postgres/repositories.ts';
import { readDaysSince } from '../postgres/repository-totals.ts';
import type { TestSelection } from '../postgres/test-selection.ts';
import { TtlCache } from '../ttl-cache.ts';
import * as common from './common.ts';
import { checkCost, isHeavy } from './search.ts';
import { askedIn, selectionOf, TEST_FILTERS, testNames } from './search-filters.ts';

const STATS = ['total_tests', 'healthy_tests', 'flaky_tests', 'broken_tests', 'failed_executions'] as const;
type Stat = (typeof STATS)[number];

/** A page that shows all of them asks for each. With filters, they come from one read of the identities that are meant. */
const KEPT_MS = 10_000;
const KEPT_MAX = 1_000;

const amountOf: Readonly<Record<Stat, (day: RepositoryDay) => number>> = {
  total_tests: ({ healths }) => healths.healthy + healths.flaky + healths.broken,
  healthy_tests: ({ healths }) => healths.healthy,
  flaky_tests: ({ healths }) => healths.flaky,
  broken_tests: ({ healths }) => healths.broken,
  failed_executions: ({ failures }) => failures,
};

const count = (description: string, example: number) => z.int().meta({ description, example });
const response = z
  .object({
    stat: z.enum(STATS),
    value: count('Failed executions: of all days of the series. Tests: on its last day', 212),
    value_over_time: z.array(
      z.object({ start: common.dateTimeOut, end: common.dateTimeOut, value: count('On this day', 212) }),
    ),
  })
  .meta({ id: 'RepositoryStatistics' });

export type RepositoryStatistics = z.output<typeof response>;

const EXAMPLE = {
  stat: 'flaky_tests',
  value: 3,
  value_over_time: [
    { start: '2026-11-20T00:00:00.000Z', end: '2026-11-21T00:00:00.000Z', value: 4 },
    { start: '2026-11-21T00:00:00.000Z', end: '2026-11-22T00:00:00.000Z', value: 3 },
  ],
} as const;

const address = '/v1/ci/:owner/repositories/:repository_name/tests/stats/:stat';

export function mountRepositoryStats(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const kept = new TtlCache<readonly RepositoryDay[]>(KEPT_MS, KEPT_MAX);
  mount(app, http, 'GET', address, {
    operationId: 'getRepositoryStat',
    tag: common.TAG,
    summary: 'Get a single stat of a repository as a series of days',
    description: `How many tests the default branch had, in which health, and how often they failed, over the last ${SERIES_DAYS} UTC days. A test counts on the days on which it ran and the 13 days after, in the worst health of the pipelines and CI jobs in which it did. The filters select tests as they are now; with filters, the answer is as of the last ten seconds.`,
    access: 'read',
    params: common.repositoryPath.extend({
      stat: z.enum(STATS, { error: `must be one of ${STATS.join(', ')}` }).meta({ example: 'flaky_tests' }),
    }),
    query: { ...testNames, ...TEST_FILTERS },
    responses: { 200: { description: 'The series.', schema: response, example: EXAMPLE } },
    isCoalesced: true,
    handle: async ({ params: path, query, signal }) => {
      const names = [...query.test_name, ...query.test_name_exclude];
      checkCost(names);
      const now = deps.clock.now();
      const repository = await deps.repositories.find(path.owner, path.repository_name);
      if (!repository) return { body: toJson(path.stat, seriesOf([], now)) };
      const isFiltered = Object.values(query).some((values) => values.length > 0);
      if (!isFiltered) {
        const days = await onPostgres(() => readDaysSince(deps.db, repository.id, firstDayOf(now)));
        return { body: toJson(path.stat, seriesOf(days, now)) };
      }
      const known = await deps.names.of(repository.id);
      const selection = selectionOf(TEST_FILTERS, query, { repositoryId: repository.id, names: known, now });
      const asked = { repository, selection, filters: askedIn(TEST_FILTERS, query), now };
      return { body: toJson(path.stat, await countDays(deps, kept, asked, { isHeavy: isHeavy(names), signal })) };
    },
  });
}

interface Asked {
  repository: Repository;
  selection: TestSelection;
  /** Names the selection. */
  filters: Record<string, unknown>;
  now: number;
}

/** Takes its turn among those of other owners: it looks at every identity of the selection. */
async function countDays(
  { db, searches }: common.InsightsDeps,
  kept: TtlCache<readonly RepositoryDay[]>,
  { repository: { id, owner }, selection, filters, now }: Asked,
  turn: { isHeavy: boolean; signal: AbortSignal | undefined },
): Promise<readonly RepositoryDay[]> {
  const since = seriesStart(now);
  const name = JSON.stringify([id, since, filters]);
  const known = kept.recall(name);
  if (known) return known;
  const onEnded = await searches.take({ owner, ...turn });
  try {
    // A request for another statistic may have read it meanwhile.
    const read = kept.recall(name);
    if (read) return read;
    const counted = new RepositoryTotals(firstDayOf(now));
    await readIdentityDays(db, id, { selection, since }, (identities) => counted.add(identities), turn.signal);
    return await kept.get(name, () => Promise.resolve(seriesOf(counted.days, now)));
  } finally {
    onEnded();
  }
}

function toJson(stat: Stat, days: readonly RepositoryDay[]): z.input<typeof response> {
  const amounts = days.map(amountOf[stat]);
  return {
    stat,
    value: stat === 'failed_executions' ? amounts.reduce((sum, amount) => sum + amount, 0) : (amounts.at(-1) ?? 0),
    value_over_time: days.map(({ start }, i) => ({
      start: formatMoment(start),
      end: formatMoment(start + DAY_MS),
      value: amounts[i] ?? 0,
    })),
  };
}
