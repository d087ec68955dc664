/** That a job has written the comment of a pull request: most hosts do not tell whether someone has deleted it since. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { NAME_LENGTH_MAX, PULL_REQUEST_NUMBER_MAX } from '../domain/limits.ts';
import { speaksForCommit } from '../domain/report-bounds.ts';
import { type Http, mount } from '../http/operation.ts';
import { wholeNumber } from '../http/path.ts';
import { forbidden } from '../http/problems.ts';
import { text } from '../http/text.ts';
import { writeCommentedCommit } from '../postgres/pull-comments.ts';
import * as common from './common.ts';
import { unknownPullRequest } from './pull-request.ts';

const body = z.object({
  commit_sha: text(1, NAME_LENGTH_MAX).meta({
    description: 'The commit that the comment is about, as the runs report it',
    example: '1111111111111111111111111111111111111111',
  }),
  branch: text(1, NAME_LENGTH_MAX)
    .nullable()
    .default(null)
    .meta({ description: 'The branch of the job; keys for some branches need it', example: 'feature' }),
});

const written = z
  .object({
    commented_commit: z.string().meta({
      description: 'As in the answer about the pull request',
      example: '1111111111111111111111111111111111111111',
    }),
  })
  .meta({ id: 'PullRequestComment' });

export function mountPullComment(app: AnyElysia, http: Http, { db, clock, repositories }: common.InsightsDeps): void {
  mount(app, http, 'PUT', '/v1/ci/:owner/repositories/:repository/pulls/:number/comment', {
    operationId: 'putPullRequestComment',
    tag: common.TAG,
    summary: 'Say that the comment of a pull request is there',
    description:
      'Jobs that write the comment themselves say so, and the answer about the pull request has the commit as `commented_commit`. If the comment is missing there later, someone has deleted it, and `ci-insights gate --comment` does not write it again. 403 for another commit or pull request than that of the job, as far as the credential tells.',
    access: 'upload',
    isRateLimited: false,
    params: common.shortPath.extend({
      number: wholeNumber(1, PULL_REQUEST_NUMBER_MAX, 'Number of the pull request.', 7),
    }),
    body,
    bodyExample: { commit_sha: '1111111111111111111111111111111111111111', branch: 'feature' },
    responses: { 200: { description: 'Noted, or known already.', schema: written } },
    handle: async ({
      params: { owner, repository: name, number },
      body: { commit_sha: commit, branch },
      credential,
    }) => {
      const { bounds } = credential ?? {};
      const isOther = (bounds?.run.pull_request ?? number) !== number;
      if (isOther || !speaksForCommit(commit, { branch, base_ref: null, pull_request: number }, bounds))
        throw forbidden(
          'This credential is for another pull request, commit or branch: a job speaks of the comment on its own.',
        );
      const repository = await repositories.find(owner, name);
      if (!repository) throw unknownPullRequest(number);
      await writeCommentedCommit(db, { repositoryId: repository.id, number, commit }, clock.now());
      return { body: { commented_commit: commit } };
    },
  });
}
