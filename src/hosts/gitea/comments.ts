/**
 * Comments on pull requests of Gitea and Forgejo, which are comments on issues in their API. They keep no record of a comment
 * that was deleted.
 */
import { z } from 'zod';
import { listNumbered, wholeList } from '../api/pages.ts';
import type { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';
import { type CommentHost, type HostComment, unlessGone } from '../writes/comment-host.ts';
import { giteaRest, repositoryPath, SIZE_NAME } from './rest.ts';

const pullSchema = z.object({ head: z.object({ sha: z.string() }) });
const userSchema = z.object({ id: z.number() });
const commentsSchema = z.array(z.object({ id: z.number(), body: z.string(), user: userSchema.nullish() }));

export class GiteaComments implements CommentHost {
  readonly marker = 'html';
  readonly subject: string;
  readonly #rest: HostRest;
  readonly #path: string;
  #self: number | undefined;

  constructor(
    place: RemotePlace,
    private readonly number: number,
  ) {
    this.subject = `pull request ${number}`;
    this.#path = repositoryPath(place.path);
    this.#rest = giteaRest(
      place,
      'It needs a token with the scopes write:issue, read:repository and read:user, which jobs of forks do not see',
    );
  }

  async head(): Promise<string> {
    return (await this.#rest.ask(`${this.#path}/pulls/${this.number}`, pullSchema)).head.sha;
  }

  async ownComments(): Promise<HostComment[]> {
    this.#self ??= (await this.#rest.ask('/user', userSchema)).id;
    const self = this.#self;
    const path = `${this.#path}/issues/${this.number}/comments`;
    const listed = await listNumbered(this.#rest, path, commentsSchema, { sizeName: SIZE_NAME });
    return wholeList(listed, this.subject)
      .filter(({ user }) => user?.id === self)
      .sort((one, other) => one.id - other.id)
      .map(({ id, body }) => ({ id: String(id), body }));
  }

  async create(body: string): Promise<void> {
    const asked = { method: 'POST', json: { body } } as const;
    await this.#rest.ask(`${this.#path}/issues/${this.number}/comments`, z.unknown(), asked);
  }

  async update(id: string, body: string): Promise<void> {
    const asked = { method: 'PATCH', json: { body } } as const;
    await this.#rest.ask(`${this.#path}/issues/comments/${id}`, z.unknown(), asked);
  }

  remove(id: string): Promise<void> {
    const asked = { method: 'DELETE' } as const;
    return unlessGone(this.#rest.ask(`${this.#path}/issues/comments/${id}`, z.unknown(), asked));
  }

  async wasDeletedSince(): Promise<boolean> {
    return false;
  }
}
