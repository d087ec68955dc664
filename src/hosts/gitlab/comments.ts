/**
 * Merge requests of GitLab: https://docs.gitlab.com/api/notes/. It keeps no record of a note that was deleted, so a later job
 * writes it again.
 */
import { z } from 'zod';
import { listNumbered, wholeList } from '../api/pages.ts';
import type { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';
import { type CommentHost, type HostComment, unlessGone } from '../writes/comment-host.ts';
import { gitlabRest, projectPath } from './rest.ts';

const mergeRequestSchema = z.object({ sha: z.string() });
const userSchema = z.object({ id: z.number() });
const notesSchema = z.array(
  z.object({ id: z.number(), body: z.string(), system: z.boolean().default(false), author: userSchema }),
);

export class GitlabComments implements CommentHost {
  readonly marker = 'html';
  readonly subject: string;
  readonly #rest: HostRest;
  readonly #path: string;
  #self: number | undefined;

  constructor(place: RemotePlace, number: number) {
    this.subject = `merge request ${number}`;
    this.#path = `${projectPath(place.path)}/merge_requests/${number}`;
    this.#rest = gitlabRest(
      place,
      'It needs a project access token with the scope api and the role Reporter or higher, which jobs of forks do not see',
    );
  }

  async head(): Promise<string> {
    return (await this.#rest.ask(this.#path, mergeRequestSchema)).sha;
  }

  async ownComments(): Promise<HostComment[]> {
    this.#self ??= (await this.#rest.ask('/user', userSchema)).id;
    const self = this.#self;
    const listed = await listNumbered(this.#rest, `${this.#path}/notes?order_by=created_at&sort=asc`, notesSchema);
    return wholeList(listed, this.subject)
      .filter(({ author, system }) => !system && author.id === self)
      .sort((one, other) => one.id - other.id)
      .map(({ id, body }) => ({ id: String(id), body }));
  }

  async create(body: string): Promise<void> {
    await this.#rest.ask(`${this.#path}/notes`, z.unknown(), { method: 'POST', json: { body } });
  }

  async update(id: string, body: string): Promise<void> {
    await this.#rest.ask(`${this.#path}/notes/${id}`, z.unknown(), { method: 'PUT', json: { body } });
  }

  remove(id: string): Promise<void> {
    return unlessGone(this.#rest.ask(`${this.#path}/notes/${id}`, z.unknown(), { method: 'DELETE' }));
  }

  async wasDeletedSince(): Promise<boolean> {
    return false;
  }
}
