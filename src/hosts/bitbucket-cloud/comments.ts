/**
 * Comments on pull requests of Bitbucket Cloud. What a person deletes is not told apart from what a token deletes.
 * https://developer.atlassian.com/cloud/bitbucket/rest/api-group-pullrequests/
 */
import { z } from 'zod';
import { HostError } from '../api/host-error.ts';
import { wholeList } from '../api/pages.ts';
import type { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';
import { type CommentHost, type HostComment, unlessGone } from '../writes/comment-host.ts';
import { isMarked } from '../writes/marker.ts';
import { cloudRest, listLinked, repositoryPath } from './rest.ts';

const pullSchema = z.object({ source: z.object({ commit: z.object({ hash: z.string() }).nullish() }) });
const commentSchema = z.object({
  id: z.number(),
  deleted: z.boolean().default(false),
  content: z.object({ raw: z.string().nullish() }),
  user: z.object({ uuid: z.string() }).nullish(),
});

export class BitbucketCloudComments implements CommentHost {
  readonly marker = 'definition';
  readonly subject: string;
  readonly #rest: HostRest;
  readonly #path: string;
  /** By the id of a user: whether its comments are those of the token. */
  readonly #isSelf = new Map<string, boolean>();

  constructor(
    private readonly place: RemotePlace,
    number: number,
  ) {
    this.subject = `pull request ${number}`;
    this.#path = `${repositoryPath(place.path)}/pullrequests/${number}`;
    this.#rest = cloudRest(
      place,
      'It needs an access token with the scope pullrequest:write, which jobs of forks do not see',
    );
  }

  /** Abbreviated. */
  async head(): Promise<string> {
    const { hash } = (await this.#rest.ask(this.#path, pullSchema)).source.commit ?? {};
    if (hash) return hash;
    throw new HostError(`Bitbucket does not say what the newest commit of ${this.subject} is`, undefined, false);
  }

  async ownComments(): Promise<HostComment[]> {
    const listed = await listLinked(this.#rest, this.place, `${this.#path}/comments?pagelen=100`, commentSchema);
    const own: HostComment[] = [];
    for (const { id, deleted, content, user } of wholeList(listed, this.subject).sort((a, b) => a.id - b.id)) {
      const comment = { id: String(id), body: content.raw ?? '' };
      if (!deleted && user && isMarked(comment.body) && (await this.#isOwn(user.uuid, comment))) own.push(comment);
    }
    return own;
  }

  /**
   * An access token may not ask who it is. But it may change its own comments, and those of no other: so one is written again
   * as it is.
   */
  async #isOwn(user: string, { id, body }: HostComment): Promise<boolean> {
    const known = this.#isSelf.get(user);
    if (known !== undefined) return known;
    const isSelf = await this.update(id, body).then(
      () => true,
      (error: unknown) => {
        if (error instanceof HostError && error.status === 403) return false;
        throw error;
      },
    );
    this.#isSelf.set(user, isSelf);
    return isSelf;
  }

  async create(body: string): Promise<void> {
    const asked = { method: 'POST', json: { content: { raw: body } } } as const;
    await this.#rest.ask(`${this.#path}/comments`, z.unknown(), asked);
  }

  async update(id: string, body: string): Promise<void> {
    const asked = { method: 'PUT', json: { content: { raw: body } } } as const;
    await this.#rest.ask(`${this.#path}/comments/${id}`, z.unknown(), asked);
  }

  remove(id: string): Promise<void> {
    return unlessGone(this.#rest.ask(`${this.#path}/comments/${id}`, z.unknown(), { method: 'DELETE' }));
  }

  async wasDeletedSince(): Promise<boolean> {
    return false;
  }
}
