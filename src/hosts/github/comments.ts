/**
 * Pull requests of GitHub, GitHub Enterprise included. The comments are those of its REST API; GraphQL says who the token is,
 * and which comments people have deleted: https://docs.github.com/en/graphql/reference/objects#commentdeletedevent
 */
import { z } from 'zod';
import { listNumbered, wholeList } from '../api/pages.ts';
import type { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';
import { type CommentHost, type HostComment, unlessGone } from '../writes/comment-host.ts';
import { askGraphql, githubPath, githubRest, nameOf } from './rest.ts';

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

export class GithubComments implements CommentHost {
  readonly marker = 'html';
  readonly subject: string;
  readonly #rest: HostRest;
  readonly #path: string;
  #viewer: string | undefined;

  constructor(
    private readonly place: RemotePlace,
    private readonly number: number,
  ) {
    this.subject = `pull request ${number}`;
    this.#path = `${githubPath(place.path)}/issues`;
    this.#rest = githubRest(
      place,
      'The job needs `permissions: pull-requests: write`, and jobs of forks get a token that only reads',
    );
  }

  async head(): Promise<string> {
    return (await this.#read()).repository.pullRequest.headRefOid;
  }

  async ownComments(): Promise<HostComment[]> {
    this.#viewer ??= (await this.#read()).viewer.login;
    const viewer = this.#viewer;
    const listed = await listNumbered(this.#rest, `${this.#path}/${this.number}/comments`, commentsSchema);
    return wholeList(listed, this.subject)
      .filter(({ user }) => isBy(viewer, user))
      .map(({ id, body }) => ({ id: String(id), body: body ?? '' }));
  }

  async create(body: string): Promise<void> {
    await this.#rest.ask(`${this.#path}/${this.number}/comments`, z.unknown(), { method: 'POST', json: { body } });
  }

  async update(id: string, body: string): Promise<void> {
    await this.#rest.ask(`${this.#path}/comments/${id}`, z.unknown(), { method: 'PATCH', json: { body } });
  }

  remove(id: string): Promise<void> {
    return unlessGone(this.#rest.ask(`${this.#path}/comments/${id}`, z.unknown(), { method: 'DELETE' }));
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
    const [owner, name] = this.place.path.split('/');
    const json = { query: PULL, variables: { owner, name, number: this.number } };
    return askGraphql(this.#rest, this.place, json, pullSchema, this.subject);
  }
}

const isBy = (viewer: string, user: { login: string; type: string } | null | undefined): boolean =>
  user != null && (user.login === viewer || (user.type === 'Bot' && nameOf(user.login) === nameOf(viewer)));
