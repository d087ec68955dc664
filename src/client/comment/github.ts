/**
 * Pull requests of GitHub, GitHub Enterprise included. The comments are those of its REST API; GraphQL says who the token is,
 * and which comments people have deleted: https://docs.github.com/en/graphql/reference/objects#commentdeletedevent
 */
import { z } from 'zod';
import { type CommentHost, type HostComment, HostError } from './host.ts';
import { HostApi } from './host-api.ts';

export interface GithubPull {
  /** Address of the REST API, without a trailing slash. */
  apiUrl: string;
  graphqlUrl: string;
  token: string;
  /** `acme/shop` */
  repository: string;
  number: number;
}

const loginSchema = z.object({ login: z.string() }).nullable();
const pullSchema = z.object({
  data: z.object({
    viewer: z.object({ login: z.string() }),
    repository: z.object({
      pullRequest: z.object({
        headRefOid: z.string(),
        timelineItems: z.object({
          nodes: z.array(z.object({ createdAt: z.string(), actor: loginSchema, deletedCommentAuthor: loginSchema })),
        }),
      }),
    }),
  }),
});
const refusedSchema = z.object({ errors: z.array(z.object({ message: z.string() })).min(1) });
type Pull = z.infer<typeof pullSchema>['data'];

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

export class Github implements CommentHost {
  readonly subject: string;
  readonly #api: HostApi;
  readonly #path: string;
  #viewer: string | undefined;

  constructor(private readonly pull: GithubPull) {
    this.subject = `pull request ${pull.number}`;
    this.#path = `/repos/${pull.repository.split('/').map(encodeURIComponent).join('/')}/issues`;
    this.#api = new HostApi({
      name: 'GitHub',
      url: pull.apiUrl,
      token: pull.token,
      headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
      hint: 'The job needs `permissions: pull-requests: write`, and jobs of forks get a token that only reads',
    });
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

  async #read(): Promise<Pull> {
    const { repository, number, graphqlUrl } = this.pull;
    const [owner, name] = repository.split('/');
    const json = { query: PULL, variables: { owner, name, number } };
    const asked = { method: 'POST', json, isRepeatable: true } as const;
    const answer = await this.#api.ask(graphqlUrl, z.union([pullSchema, refusedSchema]), asked);
    if ('data' in answer) return answer.data;
    const reason = answer.errors.map(({ message }) => message).join('; ');
    throw new HostError(`GitHub does not show ${this.subject}: ${reason}`, undefined, false);
  }
}

/** An App is called `ci[bot]` by REST, and `ci` where GraphQL names it as an author. */
const nameOf = (login: string | undefined): string | undefined => login?.replace(/\[bot\]$/, '').toLowerCase();

const isBy = (viewer: string, user: { login: string; type: string } | null | undefined): boolean =>
  user != null && (user.login === viewer || (user.type === 'Bot' && nameOf(user.login) === nameOf(viewer)));
