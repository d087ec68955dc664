/** Lists the pull requests on which something ran, the one that ran last first, with the verdicts on what failed. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { COMMIT_VERDICTS } from '../domain/commit-verdict.ts';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { DAY_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import {
  cursorParameter,
  enumParameter,
  integerParameter,
  perPageParameter,
  textParameter,
} from '../http/parameters.ts';
import { onPostgres } from '../postgres/client.ts';
import { type PullRequest, pullRequestsOf } from '../postgres/pull-requests.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import type { Commits } from './commits.ts';
import * as common from './common.ts';
import type { FailureEvidence } from './failure-evidence.ts';
import { summaryOf, verdictCounts } from './failure-summary.ts';
import { readCommitFailures } from './failures-of-commit.ts';
import { rowsBeyond } from './pages-in-memory.ts';
import { pullSummary, toldFields } from './pull-summary.ts';

const DAYS_DEFAULT = 14;
const DAYS_MAX = 90;
/** Of a repository with more in the window, the newest. */
const PULLS_MAX = 5_000;

/** All pages, filters and readers of a repository share a list of ten seconds. */
const LIST_KEPT_MS = 10_000;
const LISTS_MAX = 200;
/** Verdicts on a commit change by its runs, which name the entry, and by quarantines and the default branch. */
const VERDICTS_KEPT_MS = 60_000;
const VERDICTS_MAX = 5_000;

const pullRow = z.object({
  number: z.int(),
  newest_commit: z.string(),
  head_ref: z.string(),
  started_ms: z.int(),
  ended_ms: z.int(),
  newest_passed: z.int(),
  newest_failed: z.int(),
  newest_skipped: z.int(),
});
const readPulls = defineQuery('insights/pulls', { repository_id: 'UUID', since_ms: 'Int64', rows: 'UInt32' }, pullRow);

const readQueueChecks = defineQuery(
  'insights/queue_checks',
  { repository_id: 'UUID', since_ms: 'Int64', rows: 'UInt32' },
  z.object({ number: z.int() }),
);
const CHECKS_MAX = 100_000;
/** The queue may have announced a check before the window in which it ran. */
const CHECK_BEFORE_MS = DAY_MS;

type Row = z.infer<typeof pullRow> & { told: PullRequest | undefined };
interface Judged extends Row {
  verdicts: Record<string, number>;
  summary: string;
}

const pagedPulls: PagedList<Row, [startedMs: number, number: string]> = {
  name: 'pulls',
  keySchema: z.tuple([z.int(), z.string()]),
  // Ten digits, so that texts are in the order of numbers.
  keyOf: ({ started_ms: startedMs, number }) => [startedMs, String(number).padStart(10, '0')],
};

const STATES = ['open', 'merged', 'all'] as const;
const count = (description: string, example: number) => z.int().meta({ description, example });
const pullSchema = z
  .object({
    ...toldFields,
    commit_sha: z.string().meta({
      description: 'The newest commit on which something ran, which the counts are about',
      example: '1111111111111111111111111111111111111111',
    }),
    started_at: common.dateTimeOut.meta({ description: 'When the first of its executions finished' }),
    ended_at: common.dateTimeOut.meta({ description: 'When the last one that has arrived finished' }),
    passed: count('Passed executions, over all runs of the pull request', 211),
    failed: count('Failed executions, over all runs of the pull request', 1),
    skipped: count('Skipped executions, over all runs of the pull request', 3),
    verdicts: z.object(Object.fromEntries(COMMIT_VERDICTS.map((verdict) => [verdict, z.int()]))).meta({
      description: 'How many failed tests of the commit have each verdict',
      example: Object.fromEntries(COMMIT_VERDICTS.map((verdict) => [verdict, verdict === 'new' ? 1 : 0])),
    }),
    summary: z.string().meta({
      description: 'The same in one sentence, as of the failures of a commit',
      example: 'Probably your change: 1 failure, new; the gate fails.',
    }),
  })
  .meta({ id: 'ListedPullRequest' });

const response = z.object({ ...common.pageFields, pulls: z.array(pullSchema) });
export type PullRequestList = z.output<typeof response>;

export function mountPulls(
  app: AnyElysia,
  http: Http,
  deps: common.InsightsDeps & { commits: Commits; evidence: FailureEvidence },
): void {
  const lists = new TtlCache<Row[]>(LIST_KEPT_MS, LISTS_MAX);
  const verdicts = new TtlCache<Pick<Judged, 'verdicts' | 'summary'>>(VERDICTS_KEPT_MS, VERDICTS_MAX);
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/pulls', {
    operationId: 'listPullRequests',
    tag: common.TAG,
    summary: 'List pull requests',
    description: `The pull requests on which something ran in the last days, by when their newest commit began to run, newest first; of more than ${PULLS_MAX}, the newest. Those in which the merge queue checks others are not listed. The list is as of the last ten seconds, verdicts of a commit are as of the last minute.`,
    access: 'read',
    params: common.shortPath,
    query: {
      state: enumParameter(STATES, {
        description: '`open`: those of which the host did not say that they were merged.',
        default: 'open',
      }),
      author: textParameter(1, NAME_LENGTH_MAX, {
        description: 'Only those of the account with this login, in any case of letters.',
        example: 'octocat',
      }),
      q: textParameter(1, NAME_LENGTH_MAX, {
        description:
          'Only those whose title or branch has this part, in any case of letters, or which have this number.',
        example: 'rounding',
      }),
      days: integerParameter(1, DAYS_MAX, {
        description: 'On which something ran within as many days.',
        default: DAYS_DEFAULT,
        example: DAYS_DEFAULT,
      }),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of pull requests.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url }) => {
      const { state = 'open', author, q, days = DAYS_DEFAULT } = query;
      const asked = {
        path,
        query,
        filters: { state, author, q, days },
        window: noWindow,
        url: publicUrlOf(http.publicUrl, url),
      };
      const repository = await deps.repositories.find(path.owner, path.repository);
      const since = deps.clock.now() - days * DAY_MS;
      const page = await readPage(pagedPulls, asked, async ({ key, direction, perPage }) => {
        if (!repository) return [];
        // Not of the caller: its answer is for all who ask meanwhile.
        const rows = await lists.get(`${repository.id} ${days}`, () => readList(deps, repository, since));
        const isShown = filterOf({ state, author, q });
        return rowsBeyond(rows.filter(isShown), pagedPulls.keyOf, {
          key,
          isForward: direction === 'previous',
          limit: perPage + 1,
        });
      });
      const judged = await Promise.all(page.items.map((row) => judge(row)));
      return pageReply({ ...page, items: judged }, 'pulls', toJson);

      async function judge(row: Row): Promise<Judged> {
        const failures = { verdicts: verdictCounts([]), summary: summaryOf([], null, deps.clock.now()) };
        if (!repository || row.newest_failed === 0) return { ...row, ...failures };
        const { newest_commit: commit, newest_failed: failed, newest_passed: passed } = row;
        const name = JSON.stringify([repository.id, commit, failed, passed]);
        return { ...row, ...(await verdicts.get(name, () => readVerdicts(deps, repository, commit))) };
      }
    },
  });
}

async function readList({ clickhouse, db }: common.InsightsDeps, { id, owner }: Repository, since: number) {
  const turn = { owner, signal: undefined };
  const [ran, checks] = await Promise.all([
    clickhouse.select(readPulls, { repository_id: id, since_ms: Math.max(0, since), rows: PULLS_MAX }, turn),
    clickhouse.select(
      readQueueChecks,
      { repository_id: id, since_ms: Math.max(0, since - CHECK_BEFORE_MS), rows: CHECKS_MAX },
      turn,
    ),
  ]);
  const isCheck = new Set(checks.map(({ number }) => number));
  const rows = ran.filter(({ number }) => !isCheck.has(number));
  const numbers = rows.map(({ number }) => number);
  const told = numbers.length === 0 ? new Map() : await onPostgres(() => pullRequestsOf(db, id, numbers));
  return rows.flatMap((row): Row[] => (row.started_ms < since ? [] : [{ ...row, told: told.get(row.number) }]));
}

async function readVerdicts(
  deps: common.InsightsDeps & { commits: Commits; evidence: FailureEvidence },
  repository: Repository,
  commit: string,
) {
  const all = { pipelines: [], jobs: [], branches: [], runIds: [], runAttempt: undefined, axes: {} };
  const { failures } = await readCommitFailures(deps, repository, { ...all, commit });
  return {
    verdicts: verdictCounts(failures),
    summary: summaryOf(failures, repository.defaultBranch, deps.clock.now()),
  };
}

interface Filters {
  state: (typeof STATES)[number];
  author: string | undefined;
  q: string | undefined;
}

function filterOf({ state, author, q }: Filters): (row: Row) => boolean {
  const [login, part] = [author?.toLowerCase(), q?.toLowerCase()];
  const number = q?.match(/^#?(\d+)$/)?.[1];
  return ({ number: own, head_ref: branch, told }) => {
    if (state !== 'all' && (told?.mergeCommit != null) !== (state === 'merged')) return false;
    if (login !== undefined && told?.authorLogin?.toLowerCase() !== login) return false;
    if (part === undefined || number === String(own)) return true;
    return [told?.title, told?.headRef, branch].some((text) => text?.toLowerCase().includes(part));
  };
}

const toJson = (row: Judged): z.input<typeof pullSchema> => ({
  number: row.number,
  title: row.told?.title ?? null,
  user: row.told ? pullSummary(row.told).user : null,
  head_ref: row.told?.headRef ?? (row.head_ref || null),
  head_commit: row.told?.headCommit ?? null,
  merge_commit: row.told?.mergeCommit ?? null,
  commit_sha: row.newest_commit,
  started_at: formatMoment(row.started_ms),
  ended_at: formatMoment(row.ended_ms),
  passed: row.newest_passed,
  failed: row.newest_failed,
  skipped: row.newest_skipped,
  verdicts: row.verdicts,
  summary: row.summary,
});
