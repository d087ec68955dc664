/** Statuses of commits at Gitea and Forgejo. Each is added to those before; of one context, pages show the newest. */
import { z } from 'zod';
import { listNumbered } from '../api/pages.ts';
import type { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';
import { CHECK_NAME, type CheckHost, type CheckWritten, type WantedCheck } from '../writes/check-host.ts';
import { giteaRest, repositoryPath, SIZE_NAME } from './rest.ts';

/** The state is named `status` where statuses are listed. */
const statusesSchema = z.array(
  z.object({
    id: z.number(),
    context: z.string(),
    status: z.string(),
    description: z.string().nullish(),
    target_url: z.string().nullish(),
  }),
);

export class GiteaStatus implements CheckHost {
  readonly subject: string;
  readonly #rest: HostRest;
  readonly #path: string;

  constructor(
    place: RemotePlace,
    private readonly commit: string,
  ) {
    this.subject = `the status of ${commit.slice(0, 12)}`;
    this.#path = repositoryPath(place.path);
    this.#rest = giteaRest(place, 'It needs a token with the scope write:repository');
  }

  async write({ conclusion: state, title: description, url: target_url }: WantedCheck): Promise<CheckWritten> {
    const path = `${this.#path}/commits/${encodeURIComponent(this.commit)}/statuses`;
    const { items } = await listNumbered(this.#rest, path, statusesSchema, { sizeName: SIZE_NAME });
    const [newest] = items.filter(({ context }) => context === CHECK_NAME).sort((one, other) => other.id - one.id);
    if (newest?.status === state && newest.description === description && newest.target_url === target_url)
      return 'unchanged';
    const json = { state, context: CHECK_NAME, description, target_url };
    const asked = { method: 'POST', json } as const;
    await this.#rest.ask(`${this.#path}/statuses/${encodeURIComponent(this.commit)}`, z.unknown(), asked);
    return newest ? 'updated' : 'created';
  }
}
