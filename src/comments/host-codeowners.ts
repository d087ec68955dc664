/** Reads the CODEOWNERS of repositories from their host, where no job has sent one: once in a while, as it rarely changes. */
import type { Clock } from '../clock.ts';
import { Codeowners, codeownersRejection } from '../domain/codeowners.ts';
import { HOUR_MS } from '../domain/time.ts';
import type { Host } from '../hosts/host.ts';
import type { RemoteRepository } from '../hosts/remote.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { readCodeowners, writeCodeowners } from '../postgres/owners.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';

/** Who has sent the file, where people see it. */
const FROM_HOST = 'repository host';
const REPOSITORIES_MAX = 10_000;

interface HostedRepository {
  host: Pick<Host, 'codeownersRules'>;
  remote: RemoteRepository;
}

export class HostCodeownersFiles {
  /** By repository: it was asked for. */
  readonly #asked = new TtlCache<void>(HOUR_MS, REPOSITORIES_MAX);

  constructor(private readonly deps: { db: Database; clock: Clock }) {}

  /** Throws a HostError; then the next call asks again. */
  learn(repository: Repository, place: HostedRepository): Promise<void> {
    return this.#asked.get(repository.id, () => this.#learn(repository, place));
  }

  async #learn({ id }: Repository, place: HostedRepository): Promise<void> {
    const { db, clock } = this.deps;
    const known = await onPostgres(() => readCodeowners(db, id));
    if (known && known.changedBy !== FROM_HOST) return;
    const found = await place.remote.codeowners();
    const host = place.host.codeownersRules;
    if (!found || codeownersRejection(new Codeowners(found.content, host)) !== null) return;
    await writeCodeowners(db, id, { ...found, host, files: [] }, { name: FROM_HOST, now: clock.now() });
  }
}
