/** Reads what `ci-insights apply` compares a file with from PostgreSQL, and makes its changes. */
import type { PostgresDeps } from '../deps.ts';
import type { Change, Existing } from '../domain/apply-plan.ts';
import type { AuditActor } from '../domain/audit.ts';
import { DEFAULT_HOST } from '../domain/identity.ts';
import { boundsOfKey } from '../domain/report-bounds.ts';
import { UserError } from '../errors.ts';
import { columnsOf, settingsOf } from '../postgres/repositories.ts';
import { doerOf } from '../postgres/repository-changes.ts';
import { operatorOf } from './operator.ts';

/** Keys of files are known by it. */
const DOER: AuditActor = operatorOf('apply');

type Stores = Pick<PostgresDeps, 'keys' | 'repositories'>;

/** Reads what there is, as far as a file could say something about it. */
export async function existingIn({ keys, repositories }: Stores): Promise<Existing> {
  const [withHashes, listed] = await Promise.all([keys.listWithHashes(), repositories.list()]);
  return {
    keys: withHashes.map(({ key, tokenHash }) => ({
      id: key.id,
      name: key.name,
      tokenHash,
      rights: {
        scope: key.scope,
        owner: key.owner,
        repositories: key.repositories,
        pullRequestsOnly: key.bounds?.pull_requests_only ?? false,
        branches: key.bounds?.branches ?? null,
        expiresAt: key.expiresAt?.getTime() ?? null,
      },
      isRevoked: key.revokedAt !== null,
      isOfFile: key.madeBy === DOER.name && key.madeByKey === null,
    })),
    repositories: listed.map((repository) => ({
      path: { owner: repository.owner, name: repository.name },
      settings: settingsOf(repository),
      defaultBranchSource: repository.defaultBranchSource,
    })),
  };
}

/** Makes a change, with its entry in the trail. */
export async function makeChange({ keys, repositories }: Stores, change: Change): Promise<void> {
  switch (change.kind) {
    case 'make key': {
      const { name, rights, tokenHash } = change.key;
      const { scope, owner, pullRequestsOnly, branches, expiresAt } = rights;
      const made = {
        ...{ name, scope, owner, repositories: rights.repositories && [...rights.repositories] },
        bounds: boundsOfKey(pullRequestsOnly, branches),
        expiresAt: expiresAt === null ? null : new Date(expiresAt),
      };
      await keys.adopt(made, tokenHash, DOER);
      return;
    }
    case 'revoke key':
      await keys.revoke(change.key.id, DOER);
      return;
    case 'add repository': {
      const { path, host = DEFAULT_HOST, settings } = change.repository;
      const added = await repositories.record({ host, ...path }, DOER);
      const columns = columnsOf(settings);
      if (Object.keys(columns).length > 0) await repositories.set(added, columns, doerOf(DOER));
      return;
    }
    case 'change repository': {
      const { owner, name } = change.path;
      const before = await repositories.find(owner, name);
      if (!before) throw new UserError(`The repository ${owner}/${name} was deleted meanwhile. Apply the file again.`);
      await repositories.set(before, columnsOf(change.settings), doerOf(DOER));
    }
  }
}
