/** Reads the CODEOWNERS of repositories from their host, where no job has sent one: once in a while, as it rarely changes. */
import type { Clock } from '../clock.ts';
import { Codeowners, codeownersRejection } from '../domain/codeowners.ts';
import { HOUR_MS } from '../domain/time.ts';
import { codeownersOnGithub, codeownersOnGitlab } from '../host-api/codeowners.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { readCodeowners, writeCodeowners } from '../postgres/owners.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import type { HostPlace } from './host-places.ts';

/** Who has sent the file, where people see it. */
const FROM_HOST = 'repository host';
const REPOSITORIES_MAX = 10_000;

export class HostCodeownersFiles {
  /** By repository: it was asked for. */
  readonly #asked = new TtlCache<void>(HOUR_MS, REPOSITORIES_MAX);

  constructor(private readonly deps: { db: Database; clock: Clock }) {}

  /** Throws a HostError; then the next call asks again. */
  learn(repository: Repository, place: HostPlace): Promise<void> {
    return this.#asked.get(repository.id, () => this.#learn(repository, place));
  }

  async #learn({ id }: Repository, place: HostPlace): Promise<void> {
    const { db, clock } = this.deps;
    const known = await onPostgres(() => readCodeowners(db, id));
    if (known && known.changedBy !== FROM_HOST) return;
    const found = await (place.kind === 'github' ? codeownersOnGithub(place) : codeownersOnGitlab(place));
    if (!found || codeownersRejection(new Codeowners(found.content, place.kind)) !== null) return;
    await writeCodeowners(db, id, { ...found, host: place.kind, files: [] }, { name: FROM_HOST, now: clock.now() });
  }
}
