/** What the quarantine operations do, whichever of their two addresses is asked: `quarantines`, or the `test-states` of newer clients. */
import { DEFAULT_HOST } from '../domain/identity.ts';
import type { Credential } from '../http/auth.ts';
import { decodeCursor, hashFilters } from '../http/cursor.ts';
import { linkHeaders, pageRequest, publicUrlOf } from '../http/pages.ts';
import { conflict, type HttpProblem, notFound } from '../http/problems.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { NewQuarantine, Quarantine, QuarantineStore } from '../postgres/quarantines.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import type { QuarantineList, QuarantineLists } from './lists.ts';
import { keyOf, keySchema, pageOfList } from './page.ts';

export interface QuarantineDeps {
  repositories: RepositoryStore;
  quarantines: QuarantineStore;
  lists: QuarantineLists;
}

export interface RepositoryPath {
  owner: string;
  repository: string;
}

const NO_LIST: QuarantineList = { revision: 0, quarantines: [], byId: new Map() };

/** The list of a repository; an empty one for what was never written to. */
export const listOf = (
  { repositories, lists }: QuarantineDeps,
  path: RepositoryPath,
): MaybePromise<[repositoryId: string, list: QuarantineList]> =>
  andThen(repositories.find(path.owner, path.repository), (repository) =>
    repository ? andThen(lists.get(repository.id), (list) => [repository.id, list]) : ['', NO_LIST],
  );

const unknownQuarantine = (): HttpProblem =>
  notFound('There is no such quarantine in this repository, or it was removed. List the quarantines to see their ids.');

/** Throws 404 when there is none. */
export async function getQuarantine(deps: QuarantineDeps, path: RepositoryPath, id: string): Promise<Quarantine> {
  const [, list] = await listOf(deps, path);
  const quarantine = list.byId.get(id);
  if (!quarantine) throw unknownQuarantine();
  return quarantine;
}

/** Returns the new quarantine's id; throws 409 when the test is quarantined on that branch already. */
export async function createQuarantine(
  deps: QuarantineDeps,
  path: RepositoryPath,
  { testName, reason, branch }: Pick<NewQuarantine, 'testName' | 'reason' | 'branch'>,
  credential: Credential | undefined,
): Promise<string> {
  const repository = await deps.repositories.record({ host: DEFAULT_HOST, owner: path.owner, name: path.repository });
  const actor = credential?.actor ?? 'unknown';
  const quarantine: NewQuarantine = { testName, reason, branch, source: 'manual', actor };
  const created = await deps.quarantines.create(repository.id, quarantine);
  if (!created) throw conflict(`Test '${testName}' is already quarantined`);
  return created.id;
}

/** Returns the quarantine as it was; throws 404 when there is none. */
export async function removeQuarantine(
  deps: QuarantineDeps,
  path: RepositoryPath,
  id: string,
  credential: Credential | undefined,
): Promise<Quarantine> {
  const repository = await deps.repositories.find(path.owner, path.repository);
  const actor = credential?.actor ?? 'unknown';
  const removed = repository && (await deps.quarantines.remove(repository.id, id, actor));
  if (!removed) throw unknownQuarantine();
  return removed;
}

export interface PageOfQuarantines {
  items: Quarantine[];
  perPage: number;
  headers: Record<string, string>;
}

/** One page with its links. `list` and `filters` say what a cursor belongs to; `matching` applies the filters. */
export async function pageOfQuarantines(
  deps: QuarantineDeps,
  path: RepositoryPath,
  query: { cursor: string | undefined; per_page: number | undefined },
  of: { list: string; filters: unknown; matching: (list: readonly Quarantine[]) => Quarantine[] },
  address: { url: URL; publicUrl: string | undefined },
): Promise<PageOfQuarantines> {
  const pathKey = `${path.owner}/${path.repository}`.toLowerCase();
  const hash = hashFilters({ list: of.list, path: pathKey, filters: of.filters });
  const request = pageRequest(decodeCursor(query.cursor, hash, keySchema), query.per_page);
  const [, { quarantines }] = await listOf(deps, path);
  const page = pageOfList(of.matching(quarantines), request);
  const headers = linkHeaders({
    url: publicUrlOf(address.publicUrl, address.url),
    page,
    keyOf,
    window: null,
    perPage: request.perPage,
    filters: hash,
  });
  return { items: page.items, perPage: request.perPage, headers };
}
