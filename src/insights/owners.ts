/** Who owns the tests of a repository, and what their tests are like. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { formatMoment } from '../domain/moment.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, perPageParameter } from '../http/parameters.ts';
import { onPostgres } from '../postgres/client.ts';
import { type OwnersOfRepository, type OwnerTotals, readOwnerTotals } from '../postgres/owner-lists.ts';
import { readCodeowners, reportOn, type StoredCodeowners } from '../postgres/owners.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import * as common from './common.ts';
import { rowsBeyond } from './pages-in-memory.ts';

/** How old the counts may be: to add up 20,000 tests takes longer than a read may. */
const KEPT_MS = 5_000;
const KEPT_MAX = 1_000;
/** Patterns and faults of CODEOWNERS that are listed. */
export const LINES_LISTED_MAX = 200;

const count = (description: string, example: number) => z.int().meta({ description, example });

const totals = {
  tests: count('Tests with retained executions on the default branch', 120),
  flaky_tests: count('Of these, flaky in one of their pipelines and CI jobs, and broken in none', 4),
  broken_tests: count('Of these, broken in one of their pipelines and CI jobs', 1),
  quarantined_tests: count('Of these, with a quarantine, on whatever branch', 2),
  last_failure_at: common.lastFailureOut(),
};
const ownerSchema = z
  .object({ owner: z.string().meta({ example: '@acme/cart' }), ...totals })
  .meta({ id: 'OwnerSummary' });

const lineSchema = z
  .object({
    line: z.int().meta({ description: 'From 1', example: 12 }),
    pattern: z.string().meta({ example: '/src/old/' }),
    owners: z.array(z.string()).meta({ example: ['@acme/cart'] }),
  })
  .meta({ id: 'CodeownersLine' });

const response = z.object({
  ...common.pageFields,
  total: count('Owners on all pages', 7),
  tests: count('Tests with retained executions on the default branch', 1_204),
  owned_tests: count('Of these, those that have an owner', 1_100),
  unowned: z.object(totals).meta({ description: 'Those that have none' }),
  owners: z.array(ownerSchema),
  has_codeowners: z.boolean().meta({ description: 'Whether a CODEOWNERS file was sent', example: true }),
  unmatched_total: count('Patterns of CODEOWNERS that match the file of no test', 1),
  unmatched_patterns: z
    .array(lineSchema)
    .max(LINES_LISTED_MAX)
    .meta({ description: `The first of them: at most ${LINES_LISTED_MAX}` }),
});
export type OwnerList = z.output<typeof response>;

type Key = [count: number, owner: string];
const FACTOR = 1_000_000;
/** Those with most to do first: by broken tests, then by flaky ones, then by name. */
const keyOf = ({ broken, flaky, owner }: OwnerTotals): Key => [
  -(Math.min(broken, FACTOR) * FACTOR + Math.min(flaky, FACTOR - 1)),
  owner,
];
const pagedOwners: PagedList<OwnerTotals, Key> = {
  name: 'owners',
  keySchema: z.tuple([z.int(), z.string()]),
  keyOf,
};

const totalsJson = (of: OwnerTotals) => ({
  tests: of.tests,
  flaky_tests: of.flaky,
  broken_tests: of.broken,
  quarantined_tests: of.quarantined,
  last_failure_at: of.lastFailureAt === 0 ? null : formatMoment(of.lastFailureAt),
});

interface Known extends OwnersOfRepository {
  codeowners: Pick<StoredCodeowners, 'host' | 'path'> | undefined;
  unmatched: ReturnType<typeof reportOn>['unmatched'];
}

const NOTHING: Known = {
  tests: 0,
  owned: 0,
  owners: [],
  unowned: { owner: '', tests: 0, flaky: 0, broken: 0, quarantined: 0, lastFailureAt: 0 },
  codeowners: undefined,
  unmatched: [],
};

const address = '/v1/ci/:owner/repositories/:repository/owners';

export function mountOwners(app: AnyElysia, http: Http, { db, repositories }: common.InsightsDeps): void {
  const kept = new TtlCache<Known>(KEPT_MS, KEPT_MAX);
  const read = ({ id }: Repository): Promise<Known> =>
    kept.get(id, async () => {
      const [found, file] = await Promise.all([readOwnerTotals(db, id), onPostgres(() => readCodeowners(db, id))]);
      return { ...found, codeowners: file, unmatched: file ? reportOn(file).unmatched : [] };
    });

  mount(app, http, 'GET', address, {
    operationId: 'listOwners',
    tag: common.TAG,
    summary: 'List the owners of tests',
    description:
      'Each with how many tests it owns and how they are; those with the most broken tests first, then those with the most flaky ones. A test of several owners counts for each. Also says how many tests have no owner, and which patterns of CODEOWNERS match the file of no test. The tests of an owner are found by the search with `owner`. Counts are up to 5 seconds old.',
    access: 'read',
    params: common.shortPath,
    query: { cursor: cursorParameter(), per_page: perPageParameter() },
    responses: { 200: { description: 'A page of owners.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const found = repository ? await read(repository) : NOTHING;
      const asked = { path, query, filters: {}, window: noWindow, url: publicUrlOf(http.publicUrl, url) };
      const page = await readPage(pagedOwners, asked, async ({ key, direction, perPage }) =>
        rowsBeyond(found.owners, keyOf, { key, isForward: direction === 'next', limit: perPage + 1 }),
      );
      const { body, headers } = pageReply(page, 'owners', (one) => ({ owner: one.owner, ...totalsJson(one) }));
      return {
        headers,
        body: {
          ...body,
          total: found.owners.length,
          tests: found.tests,
          owned_tests: found.owned,
          unowned: totalsJson(found.unowned),
          has_codeowners: found.codeowners !== undefined,
          unmatched_total: found.unmatched.length,
          unmatched_patterns: found.unmatched
            .slice(0, LINES_LISTED_MAX)
            .map(({ line, pattern, owners }) => ({ line, pattern, owners })),
        },
      };
    },
  });
}
