/** Where a repository is shown on its host, and what links to its commits, files and pull requests look like. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { HOST_KINDS, HOST_SOURCES } from '../domain/host-page.ts';
import { linksOf } from '../hosts/pages.ts';
import { type Http, mount } from '../http/operation.ts';
import { hostPageOf } from '../postgres/repositories.ts';
import * as common from './common.ts';

const template = (description: string, example: string) => z.string().meta({ description, example });
const URL_EXAMPLE = 'https://github.com/acme/shop';

const response = z
  .object({
    kind: z.enum(HOST_KINDS).nullable().meta({ example: 'github' }),
    url: z.string().nullable().meta({ description: 'The address of the repository', example: URL_EXAMPLE }),
    source: z
      .enum(HOST_SOURCES)
      .nullable()
      .meta({ description: 'Who said so; all but the default branch are null while no one has', example: 'upload' }),
    default_branch: z
      .string()
      .nullable()
      .meta({ description: 'For links to what a file is now; null while it is not known', example: 'main' }),
    links: z
      .object({
        commit: template('With `{commit}`', `${URL_EXAMPLE}/commit/{commit}`),
        compare: template('What changed after `{from}` up to `{to}`', `${URL_EXAMPLE}/compare/{from}...{to}`),
        file: template('With `{commit}` and `{path}`', `${URL_EXAMPLE}/blob/{commit}/{path}`),
        line: template('As `file`, with `{line}`', `${URL_EXAMPLE}/blob/{commit}/{path}#L{line}`),
        pull_request: template('With `{number}`', `${URL_EXAMPLE}/pull/{number}`),
      })
      .nullable()
      .meta({
        description:
          'Templates of addresses: replace what is in braces by its percent-encoded value, but leave the slashes of a path',
      }),
  })
  .meta({ id: 'RepositoryHost' });

export type RepositoryHost = z.output<typeof response>;

export const mountHost = (app: AnyElysia, http: Http, { repositories }: common.InsightsDeps): void =>
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/host', {
    operationId: 'getRepositoryHost',
    tag: common.TAG,
    summary: 'Get where a repository is hosted',
    description:
      'The address of the repository on its host, and templates of links to its commits, files and pull requests. The setting `host_page` says it, else webhooks, identity tokens of CI jobs, or the address of the first CI job of a branch that an upload names.',
    access: 'read',
    params: common.shortPath,
    responses: { 200: { description: 'The host, or nulls while it is not known.', schema: response } },
    handle: async ({ params: path }) => {
      const found = await repositories.find(path.owner, path.repository);
      const page = found && hostPageOf(found);
      const known = { default_branch: found?.defaultBranch ?? null, source: found?.hostSource ?? null };
      return {
        body: page ? { ...known, ...page, links: linksOf(page) } : { ...known, kind: null, url: null, links: null },
      };
    },
  });
