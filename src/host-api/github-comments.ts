/**
 * Pull requests of GitHub, GitHub Enterprise included. The comments are those of its REST API; GraphQL says who the token is,
 * and which comments people have deleted: https://docs.github.com/en/graphql/reference/objects#commentdeletedevent
 */
import { z } from 'zod';
import type { CommentHost, HostComment } from './comment-host.ts';
import { askGraphql, type GithubRepository, githubApi, githubPath, nameOf } from './github-api.ts';
import type { HostApi } from './host-api.ts';
import { HostError } from './host-error.ts';

export interface GithubPull extends GithubRepository {
  number: number;
}

const loginSchema = z.object({ login: z.string() }).nullable();
const pullSchema = z.object({
  viewer: z.object({ login: z.string() }),
  repository: z.object({
    pullRequest: z.object({
      headRefOid: z.string(),
      timelineItems: z.object({
        nodes: z.array(z.object({ createdAt: z.string(), actor: loginSchema, deletedCommentAuthor: loginSchema })),
      }),
    }),
  }),
});
type Pull = z.infer<typeof pullSchema>;

const commentsSchema = z.array(
  z.object({
    id: z.number(),
    body: z.string().nullish(),
    user: z.object({ login: z.string(), type: z.string() }).nullish(),
  }),
);

const DELETIONS_MAX = 100;
const PULL = `query ($owner: String!, $name: String!, $number: Int!) {
  viewer { login }
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) {
      headRefOid
      timelineItems(last: ${DELETIONS_MAX}, itemTypes: [COMMENT_DELETED_EVENT]) {
        nodes { ... on CommentDeletedEvent { createdAt actor { login } deletedCommentAuthor { login } } }
      }
    }
  }
}`;

const PER_PAGE = 100;
const PAGES_MAX = 30;

export class GithubComments implements CommentHost {
  readonly subject: string;
  readonly #api: HostApi;
  readonly #path: string;
  #viewer: string | undefined;

  constructor(private readonly pull: GithubPull) {
    this.subject = `pull request ${pull.number}`;
    this.#path = `${githubPath(pull)}/issues`;
    this.#api = githubApi(
      pull,
      'The job needs `permissions: pull-requests: write`, and jobs of forks get a token that only reads',
    );
  }

  async head(): Promise<string> {
    return (await this.#read()).repository.pullRequest.headRefOid;
  }

  async ownComments(): Promise<HostComment[]> {
    this.#viewer ??= (await this.#read()).viewer.login;
    const viewer = this.#viewer;
    const own: HostComment[] = [];
    for (let page = 1; page <= PAGES_MAX; page++) {
      const path = `${this.#path}/${this.pull.number}/comments?per_page=${PER_PAGE}&page=${page}`;
      const { body: comments, hasNext } = await this.#api.askPage(path, commentsSchema);
      for (const { id, body, user } of comments) if (isBy(viewer, user)) own.push({ id: String(id), body: body ?? '' });
      if (!hasNext) return own;
    }
    throw new HostError(`${this.subject} has more than ${PAGES_MAX * PER_PAGE} comments`, undefined, false);
  }

  async create(body: string): Promise<void> {
    await this.#api.ask(`${this.#path}/${this.pull.number}/comments`, z.unknown(), { method: 'POST', json: { body } });
  }

  async update(id: string, body: string): Promise<void> {
    await this.#api.ask(`${this.#path}/comments/${id}`, z.unknown(), { method: 'PATCH', json: { body } });
  }

  async remove(id: string): Promise<void> {
    try {
      await this.#api.ask(`${this.#path}/comments/${id}`, z.unknown(), { method: 'DELETE' });
    } catch (error) {
      if (!(error instanceof HostError && error.status === 404)) throw error;
    }
  }

  /** Other jobs with the same token remove their own comments: only a person counts. */
  async wasDeletedSince(at: number): Promise<boolean> {
    const { viewer, repository } = await this.#read();
    const self = nameOf(viewer.login);
    return repository.pullRequest.timelineItems.nodes.some(
      ({ createdAt, actor, deletedCommentAuthor: author }) =>
        nameOf(author?.login) === self && nameOf(actor?.login) !== self && Date.parse(createdAt) >= at,
    );
  }

  #read(): Promise<Pull> {
    const [owner, name] = this.pull.repository.split('/');
    const json = { query: PULL, variables: { owner, name, number: this.pull.number } };
    return askGraphql(this.#api, this.pull, json, pullSchema, this.subject);
  }
}

const isBy = (viewer: string, user: { login: string; type: string } | null | undefined): boolean =>
  user != null && (user.login === viewer || (user.type === 'Bot' && nameOf(user.login) === nameOf(viewer)));
