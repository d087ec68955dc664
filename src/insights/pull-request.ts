/** A pull request: what the host says of it, and the commits on which something ran, the newest first. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { PULL_REQUEST_NUMBER_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { type Http, mount } from '../http/operation.ts';
import { wholeNumber } from '../http/path.ts';
import { notFound } from '../http/problems.ts';
import { readCommentedCommit } from '../postgres/pull-comments.ts';
import { findPullRequest } from '../postgres/pull-requests.ts';
import * as common from './common.ts';
import { pullSummary, toldFields } from './pull-summary.ts';

const COMMITS_MAX = 100;

const commitRow = z.object({
  commit_sha: z.string(),
  run_branch: z.string(),
  run_base_ref: z.string(),
  started_ms: z.int(),
  ended_ms: z.int(),
  runs: z.int(),
  run_passed: z.int(),
  run_failed: z.int(),
  run_skipped: z.int(),
  commits: z.int(),
});
const pullCommits = defineQuery(
  'insights/pull_commits',
  { repository_id: 'UUID', pull_request: 'UInt32', rows: 'UInt32' },
  commitRow,
);

const commitSchema = z.object({
  commit_sha: z.string().meta({ example: '1111111111111111111111111111111111111111' }),
  started_at: common.dateTimeOut.meta({ description: 'When the first of its executions finished' }),
  ended_at: common.dateTimeOut.meta({ description: 'When the last one that has arrived finished' }),
  runs: z.int().meta({ description: 'What pipelines ran on it, also for its branch', example: 2 }),
  passed: z.int().meta({ description: 'Passed executions, over all runs', example: 211 }),
  failed: z.int().meta({ description: 'Failed executions, over all runs', example: 1 }),
  skipped: z.int().meta({ description: 'Skipped executions, over all runs', example: 3 }),
});

const response = z
  .object({
    ...toldFields,
    base_ref: z.string().nullable().meta({ description: 'The branch that it is for', example: 'main' }),
    commented_commit: z.string().nullable().meta({
      description:
        'The newest commit on which the comment of the service was there; null: on none, as far as is known. If it is missing at the host, someone has deleted it.',
      example: '1111111111111111111111111111111111111111',
    }),
    commits_count: z.int().meta({ description: 'Commits from which results have arrived', example: 1 }),
    commits: z.array(commitSchema).meta({ description: `The newest ${COMMITS_MAX} of them, newest first` }),
  })
  .meta({ id: 'PullRequest' });

export type PullRequestAnswer = z.output<typeof response>;

export const mountPullRequest = (app: AnyElysia, http: Http, deps: common.InsightsDeps): void =>
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/pulls/:number', {
    operationId: 'getPullRequest',
    tag: common.TAG,
    summary: 'Get a pull request',
    description:
      'What the repository host says of a pull request, and its commits on which something ran, newest first. The failures of each are at `…/commits/{commit_sha}/failures`. 404 as long as neither a run nor a webhook of it has arrived.',
    access: 'read',
    params: common.shortPath.extend({
      number: wholeNumber(1, PULL_REQUEST_NUMBER_MAX, 'Number of the pull request.', 7),
    }),
    responses: { 200: { description: 'The pull request.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: { owner, repository: name, number }, signal }) => {
      const repository = await deps.repositories.find(owner, name);
      if (!repository) throw unknownPullRequest(number);
      const [commits, told, commented] = await Promise.all([
        deps.clickhouse.select(
          pullCommits,
          { repository_id: repository.id, pull_request: number, rows: COMMITS_MAX },
          { owner: repository.owner, signal },
        ),
        findPullRequest(deps.db, repository.id, number),
        readCommentedCommit(deps.db, repository.id, number),
      ]);
      const [newest] = commits;
      if (!newest && !told) throw unknownPullRequest(number);
      const body: z.input<typeof response> = {
        number,
        title: told?.title ?? null,
        user: told ? pullSummary(told).user : null,
        base_ref: told?.baseRef ?? (newest?.run_base_ref || null),
        head_ref: told?.headRef ?? (newest?.run_branch || null),
        head_commit: told?.headCommit ?? null,
        merge_commit: told?.mergeCommit ?? null,
        commented_commit: commented,
        commits_count: newest?.commits ?? 0,
        commits: commits.map((row) => ({
          commit_sha: row.commit_sha,
          started_at: formatMoment(row.started_ms),
          ended_at: formatMoment(row.ended_ms),
          runs: row.runs,
          passed: row.run_passed,
          failed: row.run_failed,
          skipped: row.run_skipped,
        })),
      };
      return { body };
    },
  });

export const unknownPullRequest = (number: number) =>
  notFound(
    `Nothing has arrived of pull request ${number}: no run, and no webhook of the host. Check the number, and that CI sends its reports.`,
  );

/** The newest commit of a pull request on which something ran; undefined if nothing did. */
export async function newestCommitOf(
  { clickhouse }: Pick<common.InsightsDeps, 'clickhouse'>,
  { id, owner }: { id: string; owner: string },
  number: number,
): Promise<string | undefined> {
  const asked = { repository_id: id, pull_request: number, rows: 1 };
  const [newest] = await clickhouse.select(pullCommits, asked, { owner });
  return newest?.commit_sha;
}

/**
 * When the first result of a commit finished, of the newest commits of its pull request; 0 if it is not among them. Milliseconds
 * since the epoch.
 */
export async function firstResultOf(
  { clickhouse }: Pick<common.InsightsDeps, 'clickhouse'>,
  { id, owner }: { id: string; owner: string },
  number: number,
  commit: string,
): Promise<number> {
  const asked = { repository_id: id, pull_request: number, rows: COMMITS_MAX };
  const commits = await clickhouse.select(pullCommits, asked, { owner });
  return commits.find(({ commit_sha: sha }) => sha === commit)?.started_ms ?? 0;
}
