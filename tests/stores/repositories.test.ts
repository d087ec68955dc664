/** A process learns of repositories that others record. */
import { expect, test } from 'bun:test';
import { RepositoryStore } from '../../src/postgres/repositories.ts';
import { openTestStores, uniqueRepository } from '../support/stores.ts';

test('a repository that was unknown a moment ago is known once another process has recorded it', async () => {
  const { postgres, clock } = await openTestStores();
  const [one, other] = [new RepositoryStore(postgres.db, clock), new RepositoryStore(postgres.db, clock)];
  const { host, owner, name } = uniqueRepository();
  expect(await one.find(owner, name)).toBeUndefined();
  const { id } = await other.record({ host, owner, name });
  expect(await one.find(owner, name)).toMatchObject({ id });
});
