/**
 * Merge requests of GitLab: https://docs.gitlab.com/api/notes/. It keeps no record of a note that was deleted, so a later job
 * writes it again.
 */
import { z } from 'zod';
import type { CommentHost, HostComment } from './comment-host.ts';
import { HostApi } from './host-api.ts';
import { HostError } from './host-error.ts';

export interface GitlabMergeRequest {
  /** Address of the REST API, without a trailing slash. */
  apiUrl: string;
  token: string;
  /** Number or path of the project that it is for. */
  project: string;
  iid: number;
}

const mergeRequestSchema = z.object({ sha: z.string() });
const userSchema = z.object({ id: z.number() });
const notesSchema = z.array(
  z.object({ id: z.number(), body: z.string(), system: z.boolean().default(false), author: userSchema }),
);

const PER_PAGE = 100;
const PAGES_MAX = 30;

export class GitlabComments implements CommentHost {
  readonly subject: string;
  readonly #api: HostApi;
  readonly #path: string;
  #self: number | undefined;

  constructor({ apiUrl, token, project, iid }: GitlabMergeRequest) {
    this.subject = `merge request ${iid}`;
    this.#path = `/projects/${encodeURIComponent(project)}/merge_requests/${iid}`;
    this.#api = new HostApi({
      name: 'GitLab',
      url: apiUrl,
      token,
      hint: 'It needs a project access token with the scope api and the role Reporter or higher, which jobs of forks do not see',
    });
  }

  async head(): Promise<string> {
    return (await this.#api.ask(this.#path, mergeRequestSchema)).sha;
  }

  async ownComments(): Promise<HostComment[]> {
    this.#self ??= (await this.#api.ask('/user', userSchema)).id;
    const self = this.#self;
    const own: HostComment[] = [];
    for (let page = 1; page <= PAGES_MAX; page++) {
      const query = `order_by=created_at&sort=asc&per_page=${PER_PAGE}&page=${page}`;
      const { body: notes, hasNext } = await this.#api.askPage(`${this.#path}/notes?${query}`, notesSchema);
      for (const { id, body, author, system } of notes)
        if (!system && author.id === self) own.push({ id: String(id), body });
      if (!hasNext) return own.sort((one, other) => Number(one.id) - Number(other.id));
    }
    throw new HostError(`${this.subject} has more than ${PAGES_MAX * PER_PAGE} comments`, undefined, false);
  }

  async create(body: string): Promise<void> {
    await this.#api.ask(`${this.#path}/notes`, z.unknown(), { method: 'POST', json: { body } });
  }

  async update(id: string, body: string): Promise<void> {
    await this.#api.ask(`${this.#path}/notes/${id}`, z.unknown(), { method: 'PUT', json: { body } });
  }

  async remove(id: string): Promise<void> {
    try {
      await this.#api.ask(`${this.#path}/notes/${id}`, z.unknown(), { method: 'DELETE' });
    } catch (error) {
      if (!(error instanceof HostError && error.status === 404)) throw error;
    }
  }

  async wasDeletedSince(): Promise<boolean> {
    return false;
  }
}
