/**
 * Comments on pull requests of Bitbucket Data Center, which are listed among the activities of a pull request. It keeps no
 * record of a comment that was deleted. A comment has a version, and a change must name the newest one.
 */
import { z } from 'zod';
import { HostError } from '../api/host-error.ts';
import { wholeList } from '../api/pages.ts';
import type { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';
import { type CommentHost, type HostComment, unlessGone } from '../writes/comment-host.ts';
import { centerRest, listFrom, repositoryPath } from './rest.ts';

const pullSchema = z.object({ fromRef: z.object({ latestCommit: z.string() }) });
const commentSchema = z.object({
  id: z.number(),
  version: z.number(),
  text: z.string(),
  author: z.object({ name: z.string() }),
});
const activitySchema = z.object({ action: z.string(), comment: commentSchema.nullish() });

export class BitbucketDataCenterComments implements CommentHost {
  readonly marker = 'definition';
  readonly subject: string;
  readonly #rest: HostRest;
  readonly #path: string;
  /** By id, as last seen. */
  readonly #versions = new Map<string, number>();
  #self: string | undefined;

  constructor(place: RemotePlace, number: number) {
    this.subject = `pull request ${number}`;
    this.#path = `${repositoryPath(place.path)}/pull-requests/${number}`;
    this.#rest = centerRest(
      place,
      'It needs an HTTP access token with the permission to read the repository, which jobs of forks do not see',
    );
  }

  async head(): Promise<string> {
    const { body, headers } = await this.#rest.askPage(this.#path, pullSchema);
    // Every answer names the user of the token.
    const name = [headers['x-ausername']].flat()[0];
    this.#self = name && decodeURIComponent(name);
    return body.fromRef.latestCommit;
  }

  async ownComments(): Promise<HostComment[]> {
    if (this.#self === undefined) await this.head();
    const self = this.#self?.toLowerCase();
    if (!self) throw new HostError('Bitbucket does not say who the token is', undefined, false);
    const activities = wholeList(await listFrom(this.#rest, `${this.#path}/activities`, activitySchema), this.subject);
    const own = activities.flatMap(({ action, comment }) =>
      action === 'COMMENTED' && comment?.author.name.toLowerCase() === self ? [comment] : [],
    );
    for (const { id, version } of own) this.#versions.set(String(id), version);
    // A comment has an activity for each reply, too.
    const byId = new Map(own.map((comment) => [comment.id, comment]));
    return [...byId.values()].sort((a, b) => a.id - b.id).map(({ id, text }) => ({ id: String(id), body: text }));
  }

  async create(body: string): Promise<void> {
    await this.#rest.ask(`${this.#path}/comments`, z.unknown(), { method: 'POST', json: { text: body } });
  }

  /** If someone else has changed it meanwhile, it is for the next look to see. */
  async update(id: string, body: string): Promise<void> {
    const asked = { method: 'PUT', json: { text: body, version: this.#versions.get(id) ?? 0 } } as const;
    await unlessChanged(this.#rest.ask(`${this.#path}/comments/${id}`, z.unknown(), asked));
  }

  async remove(id: string): Promise<void> {
    const path = `${this.#path}/comments/${id}?version=${this.#versions.get(id) ?? 0}`;
    await unlessChanged(unlessGone(this.#rest.ask(path, z.unknown(), { method: 'DELETE' })));
  }

  async wasDeletedSince(): Promise<boolean> {
    return false;
  }
}

async function unlessChanged(change: Promise<unknown>): Promise<void> {
  try {
    await change;
  } catch (error) {
    if (!(error instanceof HostError && error.status === 409)) throw error;
  }
}
