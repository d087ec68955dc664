/** What an import needs to know of a repository host. Each is a folder here and a line in `command.ts`. */
import type { RepositoryName } from '../../domain/repository-path.ts';
import type { HostClient } from './host-client.ts';
import type { ImportedPullRequest, ImportItem } from './item.ts';

/** The history that is imported from a host. */
export interface HostHistory {
  client: HostClient;
  /** The repository, as the host names it: `acme/shop`, `group/sub/shop`. */
  path: string;
  /** Milliseconds since the epoch. */
  since: number;
  until: number;
  /** Where artifacts lie until they are sent. */
  folder: string;
  /** A larger artifact is left out. */
  artifactBytesMax: number;
  /** Whether logs are read of jobs without a report. */
  readsLogs: boolean;
}

/** An import tells the event log this about a merge within its time. */
export function mergeIn(
  { since, until }: Pick<HostHistory, 'since' | 'until'>,
  mergedAt: string | null | undefined,
  mergedBy?: string,
): Pick<ImportedPullRequest, 'merged_at' | 'merged_by'> {
  const at = Date.parse(mergedAt ?? '');
  if (!(at >= since && at < until)) return {};
  return { merged_at: new Date(at).toISOString(), ...(mergedBy !== undefined && { merged_by: mergedBy }) };
}

/** Reads one history. `Gathered` is all that is small of a run, and what is on the disk of it. */
export interface HostReader<Run, Gathered> {
  /** Pull requests that were updated since the import's beginning. Called first. */
  pullRequests(): AsyncIterable<ImportedPullRequest>;
  /** Ended runs, oldest first. */
  runs(): AsyncIterable<Run>;
  /** Names a run that is complete: one that gets a further attempt has another key. */
  keyOf(run: Run): string;
  /** Called for a few runs ahead of what is sent. */
  gather(run: Run): Promise<Gathered>;
  itemsOf(gathered: Gathered): AsyncIterable<ImportItem>;
}

export interface ImportHost<Run, Gathered> {
  /** The word in the command. */
  name: string;
  /** For messages. */
  title: string;
  description: string;
  /** How its paths look, for the help. */
  pathExample: string;
  /**
   * The repository that results of its jobs belong to; undefined if its name is none that the service takes. Throws commander's
   * error for what is no path of the host.
   */
  parsePath(path: string): RepositoryName | undefined;
  apiUrl: string;
  /** The address of the API of an own instance. */
  ownApiExample: string;
  tokenVariable: string;
  /** The rights that the token must have. */
  tokenNeeds: string;
  headersOf(token: string | undefined): Readonly<Record<string, string>>;
  open(history: HostHistory, isDone: (key: string) => boolean): HostReader<Run, Gathered>;
}
