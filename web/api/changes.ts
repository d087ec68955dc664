/** What pages read again once something has changed: the reads that show it, by the beginning of their keys. */
import type { QueryClient } from '@tanstack/react-query';

const SHOW_QUARANTINES = [
  'quarantines',
  'quarantine effects',
  'commit',
  'search',
  'owners',
  'red runs',
  'pulls',
] as const;

/** After a cause was given to someone. */
export async function causesChanged(client: QueryClient): Promise<void> {
  await Promise.all(['cause', 'causes'].map((name) => client.invalidateQueries({ queryKey: [name] })));
}

/** After quarantines were made, changed or released. Returns when what is on the screen is new. */
export async function quarantinesChanged(client: QueryClient): Promise<void> {
  await Promise.all(SHOW_QUARANTINES.map((name) => client.invalidateQueries({ queryKey: [name] })));
}
