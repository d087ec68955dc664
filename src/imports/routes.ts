/** The import of a repository's history from the page: start, state, cancel. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { hostOfOwner, ownerOnHost } from '../domain/host-address.ts';
import { HOST_KINDS } from '../domain/host-page.ts';
import { importProgressSchema } from '../domain/import-progress.ts';
import { importReceiptSchema } from '../domain/import-receipt.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { DAY_MS } from '../domain/time.ts';
import { auditActorOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { owner, repository } from '../http/path.ts';
import { conflict, notFound, unprocessable } from '../http/problems.ts';
import { text } from '../http/text.ts';
import type { ImportStore, StoredImport } from '../postgres/imports.ts';
import { IMPORT_STATUSES } from '../postgres/schema/imports.ts';
import { IMPORTERS, type ImportableHost } from './importers.ts';
import { IMPORTS_AT_ONCE_MAX, type ImportRunner } from './runner.ts';

interface ImportsDeps {
  store: ImportStore;
  runner: ImportRunner;
  hosts: readonly ImportableHost[];
}

const TAG = 'Repositories';
const ADDRESS = '/v1/ci/:owner/repositories/:repository/import';
const SINCE_DAYS_DEFAULT = 90;
/** Nothing is retained for longer. */
const SINCE_DAYS_MAX = 3_650;
const TOKEN_LENGTH_MAX = 1_000;
const SOURCE_LENGTH_MAX = 500;
const params = z.object({ owner, repository });
const moment = z.iso.datetime();

const importSchema = z
  .object({
    id: z.guid().meta({ example: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
    host: z.string().meta({ description: 'The name of the host', example: 'github' }),
    source: z.string().meta({ description: 'The repository there', example: 'acme/shop' }),
    since: moment.meta({ description: 'Runs from then on', example: '2026-08-23T00:00:00.000Z' }),
    status: z.enum(IMPORT_STATUSES).meta({
      description:
        '`interrupted`: the service that ran it has ended, and with it the token; started again with the token, it continues, and so does one that failed or was cancelled',
      example: 'running',
    }),
    started_at: moment.meta({ example: '2026-11-21T10:00:00.000Z' }),
    started_by: z.string().meta({ description: 'The login, or the name of the key', example: 'ann' }),
    finished_at: moment.nullable().meta({ example: null }),
    progress: importProgressSchema,
    failure: z.string().nullable().meta({ description: 'Why it failed', example: null }),
    receipt: importReceiptSchema.nullable().meta({ description: 'What was taken; null until it is finished' }),
  })
  .meta({ id: 'RepositoryImport' });

const answerSchema = z
  .object({
    import: importSchema.nullable().meta({ description: 'The last one; null: there was none' }),
    hosts: z
      .array(
        z.object({
          name: z.string().meta({ example: 'github' }),
          kind: z.enum(HOST_KINDS).meta({ example: 'github' }),
          source: z.string().meta({ description: 'The repository there, by its name here', example: 'acme/shop' }),
          token_needs: z
            .string()
            .meta({ example: 'It may read contents, actions and pull requests of the repository.' }),
        }),
      )
      .meta({ description: 'From where it can be imported, its own host first' }),
  })
  .meta({ id: 'RepositoryImportState' });
export type RepositoryImportState = z.output<typeof answerSchema>;

const bodySchema = z.object({
  host: z.string().max(100).meta({ description: 'The name of a host of the list', example: 'github' }),
  token: text(1, TOKEN_LENGTH_MAX).meta({
    description: 'A token of the host. It is kept in memory until the import ends, and nowhere else',
    example: 'github_pat_EXAMPLE',
  }),
  source: z
    .string()
    .max(SOURCE_LENGTH_MAX)
    .regex(/^[\w.-]+(?:\/[\w.-]+)+$/, 'must be the path of a repository')
    .nullish()
    .meta({ description: 'The repository at the host, if it has another name there', example: 'acme/web/shop' }),
  since: moment.nullish().meta({
    description: `Runs from then on; null or absent: of the last ${SINCE_DAYS_DEFAULT} days, or as far back as the import that is continued`,
    example: '2026-08-23T00:00:00.000Z',
  }),
});

const bodyOf = (found: StoredImport): z.input<typeof importSchema> => ({
  id: found.id,
  host: found.host,
  source: found.source,
  since: found.since.toISOString(),
  status: found.status,
  started_at: found.startedAt.toISOString(),
  started_by: found.startedBy,
  finished_at: found.finishedAt?.toISOString() ?? null,
  progress: found.progress,
  failure: found.failure,
  receipt: found.receipt === null ? null : importReceiptSchema.parse(JSON.parse(found.receipt)),
});

export function mountImports(app: AnyElysia, http: Http, { store, runner, hosts }: ImportsDeps): void {
  const sourceAt = (host: ImportableHost, { owner, name }: RepositoryName): string =>
    `${hostOfOwner(hosts, owner) === host ? ownerOnHost(host, owner) : owner}/${name}`;
  const answerOf = (path: RepositoryName, found: StoredImport | undefined): z.input<typeof answerSchema> => {
    const own = hostOfOwner(hosts, path.owner);
    return {
      import: found ? bodyOf(found) : null,
      hosts: [...hosts.filter((host) => host === own), ...hosts.filter((host) => host !== own)].flatMap((host) => {
        const importer = IMPORTERS[host.kind];
        const { name, kind } = host;
        return importer ? [{ name, kind, source: sourceAt(host, path), token_needs: importer.needs }] : [];
      }),
    };
  };

  mount(app, http, 'GET', ADDRESS, {
    operationId: 'getImport',
    tag: TAG,
    summary: "Get the import of a repository's history",
    description:
      'The last import that was started over HTTP: how far it is, how long it will take, and once it is finished its receipt: what was taken, what was not, and why. Also of a repository of which nothing has arrived yet.',
    access: 'read',
    params,
    responses: { 200: { description: 'The last import, and from where it can be imported.', schema: answerSchema } },
    handle: async ({ params: { owner, repository: name } }) => ({
      body: answerOf({ owner, name }, await store.find({ owner, name })),
    }),
  });

  mount(app, http, 'POST', ADDRESS, {
    operationId: 'startImport',
    tag: TAG,
    summary: "Import a repository's history",
    description: `Reads what the host has of the repository, as \`ci-insights import\` does: runs with their reports, and pull requests. It quarantines, announces and ends nothing. One at a time of a repository, and ${IMPORTS_AT_ONCE_MAX} of a process: 409 while there is no turn. An import that was interrupted, failed or was cancelled continues where it was.`,
    access: 'administer',
    params,
    body: bodySchema,
    bodyExample: { host: 'github', token: 'github_pat_EXAMPLE', since: '2026-08-23T00:00:00.000Z' },
    responses: { 202: { description: 'It is running.', schema: answerSchema } },
    handle: async ({ params: { owner, repository: name }, body, credential, requestId }) => {
      const host = hosts.find((one) => one.name === body.host && IMPORTERS[one.kind]);
      if (!host)
        throw unprocessable([{ loc: ['body', 'host'], msg: `must be ${namesOf(hosts)}`, type: 'invalid_value' }]);
      const since = sinceOf(body.since, http.clock.now());
      if (!runner.hasRoom)
        throw conflict(
          `This process imports ${IMPORTS_AT_ONCE_MAX} repositories already. Try again when one is finished.`,
        );
      const asked = {
        host: host.name,
        source: body.source ?? sourceAt(host, { owner, name }),
        since,
        sinceDefault: new Date(http.clock.now() - SINCE_DAYS_DEFAULT * DAY_MS),
      };
      const begun = await store.begin({ owner, name }, asked, auditActorOf(credential, requestId));
      if (!begun) throw conflict('An import of this repository is running. Wait for its end, or cancel it.');
      runner.start(begun, { repository: { owner, name }, host, token: body.token.trim() });
      return { status: 202, body: answerOf({ owner, name }, begun) };
    },
  });

  mount(app, http, 'DELETE', ADDRESS, {
    operationId: 'cancelImport',
    tag: TAG,
    summary: "Cancel the import of a repository's history",
    description: 'What was imported stays. Started again, it continues.',
    access: 'administer',
    params,
    responses: { 200: { description: 'It is cancelled.', schema: answerSchema } },
    handle: async ({ params: { owner, repository: name }, credential, requestId }) => {
      const cancelled = await store.cancel({ owner, name }, auditActorOf(credential, requestId));
      if (!cancelled) throw notFound('No import of this repository is running.');
      await runner.cancel(cancelled.id);
      return { body: answerOf({ owner, name }, cancelled) };
    },
  });
}

const namesOf = (hosts: readonly ImportableHost[]): string =>
  hosts.flatMap(({ name, kind }) => (IMPORTERS[kind] ? [name] : [])).join(' or ') || 'a configured host; there is none';

/** Throws 422 for a time that is not in the past, or longer ago than anything is retained. */
function sinceOf(given: string | null | undefined, now: number): Date | undefined {
  if (given == null) return undefined;
  const since = Date.parse(given);
  const msg =
    since >= now
      ? 'is not in the past'
      : since < now - SINCE_DAYS_MAX * DAY_MS
        ? `is more than ${SINCE_DAYS_MAX} days ago`
        : undefined;
  if (msg) throw unprocessable([{ loc: ['body', 'since'], msg, type: 'invalid_value' }]);
  return new Date(since);
}
