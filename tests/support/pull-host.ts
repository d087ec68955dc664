/**
 * One pull request on a repository host on this machine: the comments of GitHub's REST API, its GraphQL answer about the pull
 * request, the notes of GitLab's, and what the other hosts show (`pull-dialects.ts`).
 */
import type { KeyObject } from 'node:crypto';
import { jwtVerify } from 'jose';
import { answerAs, SELF, SELF_ID, type StoredComment, type StoredPull, textOf } from './pull-dialects.ts';

interface Deletion {
  createdAt: string;
  actor: { login: string };
  deletedCommentAuthor: { login: string };
}

interface InstalledApp {
  id: string;
  publicKey: KeyObject;
  /** The clock of the host. */
  now: () => number;
}

/** Answers in place of the host; undefined lets the host answer. */
type Trouble = (request: Request, url: URL) => Response | undefined | Promise<Response | undefined>;

export const HOST_TOKEN = 'host-token-0123456789';
export { SELF };

export class PullHost implements StoredPull {
  comments: StoredComment[] = [];
  head = '';
  codeowners: { path: string; content: string } | undefined;
  files: { path: string; before?: string }[] = [];
  /** Method and path of each request that would change something. */
  readonly changes: string[] = [];
  trouble: Trouble = () => undefined;
  /** A GitHub App that is installed in the repository. */
  app: InstalledApp | undefined;
  readonly #deletions: Deletion[] = [];
  #nextId = 1;
  readonly #server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#serve(request) });

  get origin(): string {
    return this.#server.url.origin;
  }

  /** What a job of GitHub Actions is told. */
  get github(): Record<string, string> {
    return {
      GITHUB_API_URL: `${this.origin}/api/v3`,
      GITHUB_TOKEN: HOST_TOKEN,
    };
  }

  stop = (): Promise<void> => this.#server.stop(true);

  add(author: string, body: string): StoredComment {
    const comment = { id: this.#nextId++, author, body };
    this.comments.push(comment);
    return comment;
  }

  own(): StoredComment[] {
    return this.comments.filter(({ author }) => author === SELF);
  }

  /** As the button of the page does. */
  deleteAs(actor: string, id: number, at = Date.now()): void {
    const comment = this.comments.find((one) => one.id === id);
    if (!comment) return;
    this.comments = this.comments.filter((one) => one !== comment);
    const named = (login: string) => ({ login: login.replace('[bot]', '') });
    const createdAt = new Date(at).toISOString();
    this.#deletions.push({ createdAt, actor: named(actor), deletedCommentAuthor: named(comment.author) });
  }

  async #serve(request: Request): Promise<Response> {
    const url = new URL(request.url);
    if (this.app && /\/(?:installation|access_tokens)$/.test(url.pathname)) return tokenOf(this.app, request, url);
    const scheme = url.pathname.startsWith('/api/v1/') ? 'token' : 'Bearer';
    if (request.headers.get('authorization') !== `${scheme} ${HOST_TOKEN}`)
      return Response.json({ message: 'Bad credentials' }, { status: 401 });
    if (request.method !== 'GET' && !url.pathname.endsWith('graphql') && !(await this.#isSame(request, url)))
      this.changes.push(`${request.method} ${url.pathname}`);
    const answer = await this.trouble(request, url);
    if (answer) return answer;
    const other = await answerAs(this, request, url);
    if (other) return other;
    if (url.pathname.endsWith('/graphql')) return Response.json(this.#pull());
    if (url.pathname.endsWith('/user')) return Response.json({ id: SELF_ID });
    const [, collection, id] = /\/(comments|notes)(?:\/(\d+))?$/.exec(url.pathname) ?? [];
    if (/\/(?:contents|repository\/files)\//.test(url.pathname)) return this.#codeownersAt(url);
    if (/\/(?:files|diffs)$/.test(url.pathname)) return page(url, this.files.map(shownFile));
    if (collection === undefined) return Response.json({ sha: this.head, head: { sha: this.head } });
    return id === undefined ? this.#list(request, url) : this.#one(request, Number(id));
  }

  /** Whether it writes a comment again as it is, or someone else's, which changes nothing. */
  async #isSame(request: Request, { pathname }: URL): Promise<boolean> {
    if (request.method !== 'PUT' || !pathname.startsWith('/2.0/')) return false;
    const comment = this.comments.find(({ id }) => id === Number(pathname.split('/').at(-1)));
    return comment !== undefined && (comment.author !== SELF || comment.body === (await textOf(request)));
  }

  #codeownersAt({ pathname }: URL): Response {
    const found = this.codeowners;
    if (!found || !decodeURIComponent(pathname).endsWith(`/${found.path}`))
      return Response.json({ message: 'Not Found' }, { status: 404 });
    // GitHub breaks the lines.
    const content = Buffer.from(found.content).toString('base64').replace(/.{60}/g, '$&\n');
    return Response.json({ type: 'file', encoding: 'base64', content });
  }

  #pull() {
    const timelineItems = { nodes: this.#deletions };
    const repository = { pullRequest: { headRefOid: this.head, timelineItems } };
    return { data: { viewer: { login: SELF }, repository } };
  }

  async #list(request: Request, url: URL): Promise<Response> {
    if (request.method === 'POST') {
      const comment = this.add(SELF, await textOf(request));
      return Response.json(shown(comment), { status: 201 });
    }
    return page(url, this.comments.map(shown));
  }

  async #one(request: Request, id: number): Promise<Response> {
    const comment = this.comments.find((one) => one.id === id);
    if (!comment) return Response.json({ message: 'Not Found' }, { status: 404 });
    if (request.method === 'DELETE') {
      this.deleteAs(SELF, id);
      return new Response(null, { status: 204 });
    }
    comment.body = await textOf(request);
    return Response.json(shown(comment));
  }
}

/** As GitHub checks the word of an App: signed by it, for ten minutes at most. */
async function tokenOf(app: InstalledApp, request: Request, url: URL): Promise<Response> {
  const jwt = request.headers.get('authorization')?.replace('Bearer ', '') ?? '';
  try {
    const { payload } = await jwtVerify(jwt, app.publicKey, {
      ...{ issuer: app.id, algorithms: ['RS256'] },
      currentDate: new Date(app.now()),
    });
    const { iat = 0, exp = 0 } = payload;
    if (exp - iat > 600)
      return Response.json({ message: "'Expiration time' is too far in the future" }, { status: 401 });
  } catch {
    return Response.json({ message: 'A JSON web token could not be decoded' }, { status: 401 });
  }
  if (url.pathname.endsWith('/installation')) return Response.json({ id: INSTALLATION });
  if (request.method !== 'POST' || !url.pathname.endsWith(`/app/installations/${INSTALLATION}/access_tokens`))
    return Response.json({ message: 'Not Found' }, { status: 404 });
  const expires_at = new Date(app.now() + 3_600_000).toISOString();
  return Response.json({ token: HOST_TOKEN, expires_at }, { status: 201 });
}

const INSTALLATION = 11;

function page(url: URL, all: readonly unknown[]): Response {
  const size = Number(url.searchParams.get('per_page') ?? 30);
  const number = Number(url.searchParams.get('page') ?? 1);
  const hasNext = number * size < all.length;
  url.searchParams.set('page', String(number + 1));
  const items = all.slice((number - 1) * size, number * size);
  return Response.json(items, hasNext ? { headers: { link: `<${url}>; rel="next"` } } : {});
}

/** Both hosts in one: GitHub names the path before only if it differs. */
const shownFile = ({ path, before }: { path: string; before?: string }) => ({
  filename: path,
  ...(before !== undefined && { previous_filename: before }),
  new_path: path,
  old_path: before ?? path,
});

/** Both hosts in one. */
const shown = ({ id, author, body }: StoredComment) => ({
  id,
  body,
  user: { login: author, type: author.endsWith('[bot]') ? 'Bot' : 'User' },
  author: { id: author === SELF ? SELF_ID : 7 },
  system: false,
});
