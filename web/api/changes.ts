/** What pages read again once something has changed: the reads that show it, by the beginning of their keys. */
import type { QueryClient } from '@tanstack/react-query';
import { keyOf, type ReadName } from './keys.ts';

const SHOW_QUARANTINES = [
  'quarantines',
  'quarantine effects',
  'commit',
  'search',
  'owners',
  'red runs',
  'pull requests',
  'pull request',
] as const satisfies readonly ReadName[];
const SHOW_CAUSES = ['cause', 'causes'] as const satisfies readonly ReadName[];

const SHOW_TESTS = [
  'test',
  'search',
  'quarantines',
  'axes',
  'segments',
  'stat',
  'failures',
  'executions',
  'history',
  'explanation',
  'durations',
] as const satisfies readonly ReadName[];

const readAgain = (client: QueryClient, names: readonly ReadName[]) =>
  Promise.all(names.map((name) => client.invalidateQueries({ queryKey: keyOf(name) })));

/** After a cause was given to someone. */
export async function causesChanged(client: QueryClient): Promise<void> {
  await readAgain(client, SHOW_CAUSES);
}

/** After quarantines were made, changed or released. Returns when what is on the screen is new. */
export async function quarantinesChanged(client: QueryClient): Promise<void> {
  await readAgain(client, SHOW_QUARANTINES);
}

/** After a repository was deleted, and its pages were left: nothing read of it is kept, and lists are read again. */
export async function repositoryDeleted(client: QueryClient): Promise<void> {
  client.removeQueries({ type: 'inactive' });
  await client.invalidateQueries();
}

/** After a backtest was asked for. */
export async function backtestsChanged(client: QueryClient): Promise<void> {
  await readAgain(client, ['backtests']);
}

/** After renames of tests were decided, and again when they are applied: nearly all reads show tests by their names. */
export async function renamesDecided(client: QueryClient): Promise<void> {
  await readAgain(client, ['renames', ...SHOW_TESTS]);
}

/** After a worker was asked to forget tests: the receipts say how far it is, and what showed the tests is read again. */
export async function testsForgotten(client: QueryClient): Promise<void> {
  await readAgain(client, ['forgettings', ...SHOW_TESTS]);
}
