/** How many tests of a repository were broken and flaky, day by day. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { TURNS } from '../domain/health-transitions.ts';
import { formatMoment } from '../domain/moment.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import { unhealthyByDay } from '../domain/unhealthy-by-day.ts';
import { type Http, mount } from '../http/operation.ts';
import { integerParameter } from '../http/parameters.ts';
import { onPostgres } from '../postgres/client.ts';
import { readUnhealthyCourses } from '../postgres/health-courses.ts';
import { TtlCache } from '../ttl-cache.ts';
import * as common from './common.ts';

const DAYS_DEFAULT = 90;
const DAYS_MAX = 90;
/** If there are more, those that changed last. */
const TESTS_MAX = 2_000;
const KEPT_MS = 60_000;
const KEPT_MAX = 200;

const count = (description: string, example: number) => z.int().meta({ description, example });
const response = z.object({
  is_complete: z.boolean().meta({
    description: `False if more than ${TESTS_MAX} tests changed in these days: then those that changed last are counted`,
    example: true,
  }),
  days: z
    .array(
      z
        .object({
          start: common.dateTimeOut,
          broken_tests: count('Broken at the end of the day; today: now', 3),
          flaky_tests: count('The same of flaky ones', 12),
          turns: z.object(Object.fromEntries(TURNS.map((turn) => [turn, z.int()]))).meta({
            description: 'How often tests turned on this day',
            example: Object.fromEntries(TURNS.map((turn, i) => [turn, i === 0 ? 1 : 0])),
          }),
        })
        .meta({ id: 'UnhealthyDay' }),
    )
    .meta({ description: 'UTC days, the oldest first and today last' }),
});
export type UnhealthyByDay = z.output<typeof response>;

export function mountUnhealthyByDay(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const kept = new TtlCache<z.input<typeof response>>(KEPT_MS, KEPT_MAX);
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/health-transitions/by-day', {
    operationId: 'countUnhealthyTests',
    tag: common.TAG,
    summary: 'Count broken and flaky tests by day',
    description:
      'How many tests of the default branch were broken and flaky at the end of each UTC day, and how many turned so, recovered or were fixed on it. A test counts until it has not run for 14 days. Up to a minute old.',
    access: 'read',
    params: common.shortPath,
    query: {
      days: integerParameter(1, DAYS_MAX, {
        description: 'How many UTC days, with today.',
        default: DAYS_DEFAULT,
        example: DAYS_DEFAULT,
      }),
    },
    responses: { 200: { description: 'The days.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path, query: { days = DAYS_DEFAULT } }) => {
      const repository = await deps.repositories.find(path.owner, path.repository);
      const last = dayOf(deps.clock.now());
      const span = { first: last - days + 1, last };
      if (!repository) return { body: toJson([], span) };
      const read = async () => {
        const which = { since: span.first * DAY_MS, testsMax: TESTS_MAX };
        return toJson(await onPostgres(() => readUnhealthyCourses(deps.db, repository.id, which)), span);
      };
      return { body: await kept.get(`${repository.id} ${span.first} ${last}`, read) };
    },
  });
}

function toJson(
  tests: Awaited<ReturnType<typeof readUnhealthyCourses>>,
  span: { first: number; last: number },
): z.input<typeof response> {
  const counted = unhealthyByDay(
    tests.map(({ identities }) => identities),
    span,
  );
  return {
    is_complete: tests.length < TESTS_MAX,
    days: counted.map(({ broken, flaky, turns }, i) => ({
      start: formatMoment((span.first + i) * DAY_MS),
      broken_tests: broken,
      flaky_tests: flaky,
      turns,
    })),
  };
}
