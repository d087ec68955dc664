/** The end of a repository over HTTP: what `ci-insights repos delete` does. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { countStored } from '../clickhouse/repository-rows.ts';
import type { Clock } from '../clock.ts';
import { addCounts, isConfirmed } from '../domain/deletion.ts';
import { OWNER_LENGTH_MAX, REPOSITORY_NAME_LENGTH_MAX } from '../domain/repository-path.ts';
import { auditActorOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { enumParameter, textParameter } from '../http/parameters.ts';
import { owner, repository } from '../http/path.ts';
import { notFound, unprocessable } from '../http/problems.ts';
import type { Database } from '../postgres/client.ts';
import { countDeletion, type Deletion, deletionsAt } from '../postgres/deleted-repositories.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';

const ADDRESS = '/v1/ci/:owner/repositories/:repository';
const TAG = 'Repositories';
const CONFIRM_LENGTH_MAX = OWNER_LENGTH_MAX + 1 + REPOSITORY_NAME_LENGTH_MAX;

const rowCounts = z.record(z.string(), z.int());
const moment = z.iso.datetime();

const previewSchema = z
  .object({
    repository: z.string().meta({ example: 'acme/shop' }),
    rows: rowCounts.meta({
      description: 'Rows that would be removed, by table; tables without any are left out',
      example: { repositories: 1, executions: 120_000, events: 310, tests: 840, quarantines: 3 },
    }),
  })
  .meta({ id: 'RepositoryDeletionPreview' });
export type DeletionPreview = z.output<typeof previewSchema>;

const deletionSchema = z
  .object({
    id: z.guid().meta({ example: '5beeaeba-a982-5c8b-8869-7caf1b9175bf' }),
    repository: z.string().meta({ example: 'acme/shop' }),
    deleted_at: moment.meta({ example: '2026-11-21T10:00:00.000Z' }),
    deleted_by: z.string().meta({ description: 'As in the trail', example: 'ann@example.com' }),
    finished_at: moment.nullable().meta({
      description: 'Null while a worker removes what is stored',
      example: '2026-11-21T10:00:04.000Z',
    }),
    removed: rowCounts.meta({
      description: 'Rows removed so far, by table',
      example: { repositories: 1, executions: 120_000, events: 310, tests: 840, quarantines: 3 },
    }),
  })
  .meta({ id: 'RepositoryDeletion' });
export type RepositoryDeletion = z.output<typeof deletionSchema>;

const listSchema = z.object({ deletions: z.array(deletionSchema) }).meta({ id: 'RepositoryDeletionList' });

const documentOf = ({ id, deletedAt, deletedBy, finishedAt, removed, ...path }: Deletion): RepositoryDeletion => ({
  id,
  repository: `${path.owner}/${path.name}`,
  deleted_at: deletedAt.toISOString(),
  deleted_by: deletedBy,
  finished_at: finishedAt?.toISOString() ?? null,
  removed,
});

interface RepositoryDeletionDeps {
  db: Database;
  clickhouse: ClickHouse;
  repositories: RepositoryStore;
  clock: Clock;
}

export function mountRepositoryDeletion(
  app: AnyElysia,
  http: Http,
  { db, clickhouse, repositories, clock }: RepositoryDeletionDeps,
): void {
  const params = z.object({ owner, repository });
  mount(app, http, 'DELETE', ADDRESS, {
    operationId: 'deleteRepository',
    tag: TAG,
    summary: 'Delete a repository',
    description:
      'Removes everything that is stored of the repository, for good: executions, statistics, health, quarantines, settings, events, receipts, and the keys that are for it alone. It is gone with the answer; a worker then removes the rows. Uploads that were accepted before count nothing; the next upload begins an empty repository. With `dry_run`, nothing changes and the answer says what would go.',
    access: 'administer',
    params,
    query: {
      dry_run: enumParameter(['true'], { description: 'Only say what would go.' }),
      confirm: textParameter(1, CONFIRM_LENGTH_MAX, {
        description: 'Owner and name of the repository once more, compared without case. Required without `dry_run`.',
        example: 'acme/shop',
      }),
    },
    responses: {
      200: { description: 'With `dry_run`: what would go.', schema: previewSchema },
      202: { description: 'The repository is deleted; a worker removes its rows.', schema: deletionSchema },
    },
    handle: async ({ params: path, query, credential, requestId }) => {
      const found = await repositories.find(path.owner, path.repository);
      if (!found) throw nothingToDelete(path);
      if (query.dry_run) {
        const rows = addCounts(await countDeletion(db, found, clock.now()), await countStored(clickhouse, found.id));
        return { status: 200, body: { repository: `${found.owner}/${found.name}`, rows } };
      }
      if (!isConfirmed(found, query.confirm ?? ''))
        throw unprocessable([
          {
            loc: ['query', 'confirm'],
            msg: `must be ${found.owner}/${found.name}, because nothing brings a deleted repository back`,
            type: 'not_confirmed',
          },
        ]);
      const deletion = await repositories.delete(found, auditActorOf(credential, requestId));
      if (!deletion) throw nothingToDelete(path);
      return { status: 202, body: documentOf(deletion) };
    },
  });

  mount(app, http, 'GET', `${ADDRESS}/deletions`, {
    operationId: 'listRepositoryDeletions',
    tag: TAG,
    summary: 'List the deletions of a repository',
    description:
      'The receipts of repositories that were deleted at this path, the newest first; at most 100. They are kept as long as the trail.',
    access: 'administer',
    params,
    responses: { 200: { description: 'The receipts.', schema: listSchema } },
    handle: async ({ params: path }) => {
      const found = await deletionsAt(db, { owner: path.owner, name: path.repository });
      return { body: { deletions: found.map(documentOf) } };
    },
  });
}

const nothingToDelete = (path: { owner: string; repository: string }) =>
  notFound(`There is no repository ${path.owner}/${path.repository}. Nothing was deleted.`);
