/** The CODEOWNERS file of a repository: sent by jobs of its default branch, or by people. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { Codeowners, codeownersRejection } from '../domain/codeowners.ts';
import { CODEOWNERS_HOSTS } from '../domain/codeowners-pattern.ts';
import { DEFAULT_HOST } from '../domain/identity.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import {
  CODEOWNERS_BODY_BYTES_MAX,
  CODEOWNERS_BYTES_MAX,
  CODEOWNERS_FILES_BYTES_MAX,
  CODEOWNERS_FILES_MAX,
  NAME_LENGTH_MAX,
  UINT32_MAX,
} from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { speaksForDefaultBranch } from '../domain/report-bounds.ts';
import { malformedReason } from '../domain/text.ts';
import { type Credential, doerOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { forbidden, notFound } from '../http/problems.ts';
import { text } from '../http/text.ts';
import { onPostgres } from '../postgres/client.ts';
import { filesIn, readCodeowners, reportOn, writeCodeowners } from '../postgres/owners.ts';
import * as common from './common.ts';
import { LINES_LISTED_MAX } from './owners.ts';

const address = '/v1/ci/:owner/repositories/:repository/codeowners';

/** Text of several lines, of so many bytes. */
const lines = (limit: 'CODEOWNERS_BYTES_MAX' | 'CODEOWNERS_FILES_BYTES_MAX', bytesMax: number) =>
  z.string().superRefine((value, context) => {
    const fault = Buffer.byteLength(value) > bytesMax ? REQUEST_LIMITS[limit].sentence() : malformedReason(value);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  });

const ref = (description: string, example: string) =>
  text(1, NAME_LENGTH_MAX).nullable().default(null).meta({ description, example });

export const codeownersBody = z
  .object({
    host: z.enum(CODEOWNERS_HOSTS).meta({ description: 'Whose rules the file follows', example: 'github' }),
    path: text(1, NAME_LENGTH_MAX).meta({
      description: 'Where the file is in the repository',
      example: '.github/CODEOWNERS',
    }),
    content: lines('CODEOWNERS_BYTES_MAX', CODEOWNERS_BYTES_MAX).meta({
      description: 'The file; empty: no one owns anything',
      example: '*  @acme/all\n/src/cart/  @acme/cart\n',
    }),
    files: lines('CODEOWNERS_FILES_BYTES_MAX', CODEOWNERS_FILES_BYTES_MAX)
      .transform((value) => filesIn(value.replaceAll('\r', '')).filter((file) => file !== ''))
      .refine((files) => files.length <= CODEOWNERS_FILES_MAX, {
        error: REQUEST_LIMITS.CODEOWNERS_FILES_MAX.sentence(),
      })
      .default([])
      .meta({
        description:
          'Files of the repository that may hold tests, one a line, from its root. With them, the file of a test is found however its runner spells it',
        example: 'src/cart/sums.test.ts\n',
      }),
    branch: ref('The branch of the job that sends it. Only admin keys may leave it out', 'main'),
    base_ref: ref('The branch that its pull request is for', 'main'),
    pull_request: z
      .int()
      .min(1)
      .max(UINT32_MAX)
      .nullable()
      .default(null)
      .meta({ description: 'The number of its pull request', example: null }),
  })
  .superRefine(({ content, host }, context) => {
    const fault = codeownersRejection(new Codeowners(content, host));
    if (fault !== null) context.addIssue({ code: 'custom', message: fault, path: ['content'] });
  });

const problem = z
  .object({
    line: z.int().meta({ description: 'From 1', example: 3 }),
    reason: z.string().meta({ example: 'docs is no owner' }),
  })
  .meta({ id: 'CodeownersProblem' });
const read = {
  patterns: z.int().meta({ description: 'Patterns that are read', example: 12 }),
  problems: z
    .array(problem)
    .max(LINES_LISTED_MAX)
    .meta({ description: `Lines that are not read as they stand: the first ${LINES_LISTED_MAX}`, example: [] }),
};

const written = z
  .object({ is_changed: z.boolean().meta({ description: 'False: it was known already', example: true }), ...read })
  .meta({ id: 'WrittenCodeowners' });

const stored = z
  .object({
    host: z.enum(CODEOWNERS_HOSTS).meta({ example: 'github' }),
    path: z.string().meta({ example: '.github/CODEOWNERS' }),
    content: z.string().meta({ example: '*  @acme/all\n/src/cart/  @acme/cart\n' }),
    files: z.int().meta({ description: 'Files that were listed beside it; 0: none', example: 812 }),
    changed_at: common.dateTimeOut,
    changed_by: z.string().meta({ description: 'The key or person that sent it', example: 'ci' }),
    ...read,
  })
  .meta({ id: 'Codeowners' });
export type CodeownersAnswer = z.output<typeof stored>;

export function mountCodeowners(app: AnyElysia, http: Http, { db, clock, repositories }: common.InsightsDeps): void {
  mount(app, http, 'GET', address, {
    operationId: 'getCodeowners',
    tag: common.TAG,
    summary: 'Get the CODEOWNERS file of a repository',
    description: 'As it was sent last. 404 if none was.',
    access: 'read',
    params: common.shortPath,
    responses: { 200: { description: 'The file.', schema: stored } },
    handle: async ({ params: path }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const file = repository && (await onPostgres(() => readCodeowners(db, repository.id)));
      if (!file) throw notFound('No CODEOWNERS file was sent for this repository: `ci-insights push` sends it.');
      const { patterns, problems } = reportOn(file);
      return {
        body: {
          host: file.host,
          path: file.path,
          content: file.content,
          files: filesIn(file.files).length,
          changed_at: formatMoment(file.changedAt.getTime()),
          changed_by: file.changedBy,
          patterns,
          problems: problems.slice(0, LINES_LISTED_MAX),
        },
      };
    },
  });

  mount(app, http, 'PUT', address, {
    operationId: 'putCodeowners',
    tag: common.TAG,
    summary: 'Send the CODEOWNERS file of a repository',
    description:
      'Replaces the one before; the owners of tests follow within seconds. `ci-insights push` sends it from jobs of the default branch. 403 from any other run than one of the default branch itself, by what the credential lets it say: a pull request does not change who owns tests. An admin key may send it from anywhere.',
    access: 'upload',
    isRateLimited: false,
    params: common.shortPath,
    body: codeownersBody,
    bodyBytesMax: CODEOWNERS_BODY_BYTES_MAX,
    bodyExample: {
      host: 'github',
      path: '.github/CODEOWNERS',
      content: '*  @acme/all\n/src/cart/  @acme/cart\n',
      branch: 'main',
    },
    responses: { 200: { description: 'Stored, or known already.', schema: written } },
    handle: async ({ params: path, body: sent, credential, requestId }) => {
      const known = await repositories.find(path.owner, path.repository);
      await requireDefaultBranch(credential, path, sent, known?.defaultBranch ?? null);
      const by = doerOf(credential, requestId);
      const recorded = { host: DEFAULT_HOST, owner: path.owner, name: path.repository };
      const repository = known ?? (await repositories.record(recorded, by.audit));
      const isChanged = await writeCodeowners(db, repository.id, sent, { name: by.name, now: clock.now() });
      const { rules, problems } = new Codeowners(sent.content, sent.host);
      return {
        body: { is_changed: isChanged, patterns: rules.length, problems: problems.slice(0, LINES_LISTED_MAX) },
      };
    },
  });
}

/** Throws 403 unless the run may say what holds for the default branch. */
async function requireDefaultBranch(
  credential: Credential | undefined,
  { owner, repository }: { owner: string; repository: string },
  run: Pick<z.output<typeof codeownersBody>, 'branch' | 'base_ref' | 'pull_request'>,
  defaultBranch: string | null,
): Promise<void> {
  const bounds = credential?.bounds;
  if (!bounds && (await credential?.access({ owner, name: repository }, 'administer')) === 'granted') return;
  if (speaksForDefaultBranch(run, bounds, defaultBranch)) return;
  throw forbidden(
    `Only jobs of the default branch${defaultBranch === null ? '' : ` (${defaultBranch})`} say who owns tests, with a credential that may report on it; or an admin key.`,
  );
}
