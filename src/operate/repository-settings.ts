/** The settings of a repository over HTTP: what `ci-insights repos set` changes, by the same rule. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { DEFAULT_BRANCH_SOURCES } from '../domain/default-branch.ts';
import { DEFAULT_HOST } from '../domain/identity.ts';
import { needsRebuild, settingsChangeSchema, settingsSchema } from '../domain/repository-settings.ts';
import { doerOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { owner, repository } from '../http/path.ts';
import {
  columnsOf,
  DEFAULT_SETTINGS,
  type Repository,
  type RepositoryStore,
  settingsOf,
} from '../postgres/repositories.ts';

export type { SettingsChange } from '../domain/repository-settings.ts';

const ADDRESS = '/v1/ci/:owner/repositories/:repository/settings';
const TAG = 'Repositories';

const response = settingsSchema
  .extend({
    default_branch_source: z.enum(DEFAULT_BRANCH_SOURCES).nullable().meta({
      description: 'Where the default branch comes from; null while it is not known',
      example: 'setting',
    }),
  })
  .meta({ id: 'RepositorySettings' });
export type RepositorySettingsAnswer = z.output<typeof response>;

const changedResponse = response
  .extend({
    needs_rebuild: z.boolean().meta({
      description: 'Stored executions follow the settings before until `ci-insights rebuild` has run',
      example: false,
    }),
  })
  .meta({ id: 'ChangedRepositorySettings' });
export type ChangedSettings = z.output<typeof changedResponse>;

const answerOf = (found: Repository | undefined): RepositorySettingsAnswer =>
  found
    ? { ...settingsOf(found), default_branch_source: found.defaultBranchSource }
    : { ...DEFAULT_SETTINGS, default_branch_source: null };

export function mountRepositorySettings(
  app: AnyElysia,
  http: Http,
  { repositories }: { repositories: RepositoryStore },
): void {
  const params = z.object({ owner, repository });
  mount(app, http, 'GET', ADDRESS, {
    operationId: 'getRepositorySettings',
    tag: TAG,
    summary: 'Get the settings of a repository',
    description: 'Those of a repository without data are the defaults.',
    access: 'read',
    params,
    responses: { 200: { description: 'The settings.', schema: response } },
    handle: async ({ params: path }) => ({ body: answerOf(await repositories.find(path.owner, path.repository)) }),
  });

  mount(app, http, 'PATCH', ADDRESS, {
    operationId: 'updateRepositorySettings',
    tag: TAG,
    summary: 'Change settings of a repository',
    description:
      'What the body leaves out stays as it is. A repository without data is recorded, as with `ci-insights repos set --create`. A change is an event of the log. Takes effect everywhere within a second.',
    access: 'administer',
    params,
    body: settingsChangeSchema,
    bodyExample: { auto_quarantine: 'flaky', quarantine_limit: 20 },
    responses: { 200: { description: 'The settings as they are now.', schema: changedResponse } },
    handle: async ({ params: path, body, credential, requestId }) => {
      const by = doerOf(credential, requestId);
      const known = await repositories.find(path.owner, path.repository);
      const recorded =
        known ??
        (await repositories.record({ host: DEFAULT_HOST, owner: path.owner, name: path.repository }, by.audit));
      const after = await repositories.set(recorded, columnsOf(body), by);
      const isRebuildNeeded = needsRebuild(settingsOf(recorded), settingsOf(after));
      return { body: { ...answerOf(after), needs_rebuild: isRebuildNeeded } };
    },
  });
}
