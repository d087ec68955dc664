/** The files that a commit changed, as its jobs send them: claims count them. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { DEFAULT_HOST } from '../domain/identity.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import {
  CHANGED_FILES_BODY_BYTES_MAX,
  CHANGED_FILES_BYTES_MAX,
  CHANGED_FILES_MAX,
  CHANGED_PATH_LENGTH_MAX,
  NAME_LENGTH_MAX,
} from '../domain/limits.ts';
import { speaksForCommit } from '../domain/report-bounds.ts';
import { doerOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { forbidden } from '../http/problems.ts';
import { text } from '../http/text.ts';
import { writeChangedFiles } from '../postgres/changed-files.ts';
import * as common from './common.ts';

/** Paths from the root of the repository, as a question about claims has them, too. */
export const changedPaths = () =>
  z
    .array(text(1, CHANGED_PATH_LENGTH_MAX))
    .max(CHANGED_FILES_MAX, { error: REQUEST_LIMITS.CHANGED_FILES_MAX.sentence() });

const changedBytes = (paths: readonly string[]): number =>
  paths.reduce((sum, path) => sum + Buffer.byteLength(path), 0);

export const changedFilesBody = z.object({
  paths: changedPaths()
    .refine((paths) => changedBytes(paths) <= CHANGED_FILES_BYTES_MAX, {
      error: REQUEST_LIMITS.CHANGED_FILES_BYTES_MAX.sentence(),
    })
    .meta({ description: 'From the root of the repository; empty: not known', example: ['src/shop/cart.ts'] }),
  branch: text(1, NAME_LENGTH_MAX)
    .nullable()
    .default(null)
    .meta({ description: 'The branch of the job that sends them; keys for some branches need it', example: 'feature' }),
});

const written = z
  .object({ is_changed: z.boolean().meta({ description: 'False: it was known already', example: true }) })
  .meta({ id: 'WrittenChangedFiles' });

export function mountChangedFiles(app: AnyElysia, http: Http, { db, clock, repositories }: common.InsightsDeps): void {
  mount(app, http, 'PUT', '/v1/ci/:owner/repositories/:repository/commits/:commit_sha/changed-files', {
    operationId: 'putChangedFiles',
    tag: common.TAG,
    summary: 'Send the files that a commit changed',
    description:
      'Compared with what its change is based on, such as the merge base. Replaces those before. The claims of the commit count them: a change is likelier to break the tests near its files. `ci-insights push --changed-files` sends them. 403 for another commit than that of the job, as far as the credential tells. What a credential for pull requests sends counts off the default branch alone, and replaces nothing that another one has sent.',
    access: 'upload',
    isRateLimited: false,
    params: common.shortPath.extend({
      commit_sha: text(1, NAME_LENGTH_MAX).meta({
        description: 'The whole id of the commit, as the runs report it',
        example: '1111111111111111111111111111111111111111',
      }),
    }),
    body: changedFilesBody,
    bodyBytesMax: CHANGED_FILES_BODY_BYTES_MAX,
    bodyExample: { paths: ['src/shop/cart.ts'], branch: 'feature' },
    responses: { 200: { description: 'Stored, or known already.', schema: written } },
    handle: async ({ params: path, body: { paths, branch }, credential, requestId }) => {
      const { commit_sha: commit } = path;
      if (!speaksForCommit(commit, { branch, base_ref: null, pull_request: null }, credential?.bounds))
        throw forbidden(
          'This credential is for another commit or branch: a job sends the files of the commit that it tests.',
        );
      const recorded = { host: DEFAULT_HOST, owner: path.owner, name: path.repository };
      const repository =
        (await repositories.find(path.owner, path.repository)) ??
        (await repositories.record(recorded, doerOf(credential, requestId).audit));
      const isConfined = credential?.bounds?.is_confined ?? false;
      const name = { repositoryId: repository.id, commit };
      return { body: { is_changed: await writeChangedFiles(db, name, { paths, isConfined }, clock.now()) } };
    },
  });
}
