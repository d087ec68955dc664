/**
 * How Gitea, Bitbucket Cloud and Bitbucket Data Center show one pull request and the statuses of commits, as their REST
 * documentation says. Each answers under the path of its API.
 */
import { z } from 'zod';

export interface StoredComment {
  id: number;
  author: string;
  body: string;
  /** Of Bitbucket Data Center: how often it was changed. */
  version?: number;
}

/** What the server keeps, whatever host it is. */
export interface StoredPull {
  comments: StoredComment[];
  head: string;
  /** Its path on the default branch, and its text. */
  codeowners: { path: string; content: string } | undefined;
  /** What the pull request changes. */
  files: { path: string; before?: string }[];
  add(author: string, body: string): StoredComment;
}

export const SELF = 'github-actions[bot]';
export const SELF_ID = 41;
const NOT_FOUND = () => Response.json({ message: 'Not Found' }, { status: 404 });
const FORBIDDEN = () => Response.json({ message: 'Forbidden' }, { status: 403 });

const userId = (author: string): number => (author === SELF ? SELF_ID : 7);
const noContent = () => new Response(null, { status: 204 });

/** The text of a new comment, as any of the hosts takes it. */
const bodySchema = z.union([
  z.object({ body: z.string() }).transform(({ body }) => body),
  z.object({ content: z.object({ raw: z.string() }) }).transform(({ content }) => content.raw),
  z.object({ text: z.string() }).transform(({ text }) => text),
]);
export const textOf = async (request: Request): Promise<string> => bodySchema.parse(await request.clone().json());

/** Undefined: the address is of another host. */
export async function answerAs(host: StoredPull, request: Request, url: URL): Promise<Response | undefined> {
  if (url.pathname.startsWith('/api/v1/')) return asGitea(host, request, url);
  if (url.pathname.startsWith('/2.0/')) return asCloud(host, request, url);
  if (url.pathname.startsWith('/rest/api/1.0/')) return asCenter(host, request, url);
  return undefined;
}

async function change(host: StoredPull, request: Request, id: number): Promise<StoredComment | Response> {
  const comment = host.comments.find((one) => one.id === id);
  if (!comment) return NOT_FOUND();
  if (comment.author !== SELF) return FORBIDDEN();
  if (request.method === 'DELETE') {
    host.comments = host.comments.filter((one) => one !== comment);
    return noContent();
  }
  comment.body = await textOf(request);
  comment.version = (comment.version ?? 0) + 1;
  return comment;
}

async function asGitea(host: StoredPull, request: Request, url: URL): Promise<Response> {
  const shown = ({ id, author, body }: StoredComment) => ({ id, body, user: { id: userId(author), login: author } });
  const { pathname } = url;
  if (pathname === '/api/v1/user') return Response.json({ id: SELF_ID, login: SELF });
  const file = /\/contents\/(.+)$/.exec(pathname)?.[1];
  if (file !== undefined)
    return host.codeowners?.path === file
      ? Response.json({
          type: 'file',
          encoding: 'base64',
          content: Buffer.from(host.codeowners.content).toString('base64'),
        })
      : NOT_FOUND();
  if (pathname.endsWith('/files'))
    return numbered(
      url,
      host.files.map(({ path, before }) => ({ filename: path, ...(before && { previous_filename: before }) })),
    );
  const id = /\/issues\/comments\/(\d+)$/.exec(pathname)?.[1];
  if (id !== undefined) {
    const changed = await change(host, request, Number(id));
    return changed instanceof Response ? changed : Response.json(shown(changed));
  }
  if (!pathname.endsWith('/issues/7/comments')) return Response.json({ number: 7, head: { sha: host.head } });
  if (request.method === 'POST') return Response.json(shown(host.add(SELF, await textOf(request))), { status: 201 });
  // All at once: this list has no pages.
  return Response.json(host.comments.map(shown));
}

/** Pages with numbers and links, of 50 at most. */
function numbered(url: URL, all: readonly unknown[]): Response {
  const size = Math.min(50, Number(url.searchParams.get('limit') ?? 30));
  const page = Number(url.searchParams.get('page') ?? 1);
  const hasNext = page * size < all.length;
  const items = all.slice((page - 1) * size, page * size);
  url.searchParams.set('page', String(page + 1));
  return Response.json(items, hasNext ? { headers: { link: `<${url}>; rel="next"` } } : {});
}

async function asCloud(host: StoredPull, request: Request, url: URL): Promise<Response> {
  const shown = ({ id, author, body }: StoredComment) => ({
    id,
    deleted: false,
    content: { raw: body, markup: 'markdown' },
    user: { uuid: `{${userId(author)}}` },
  });
  const { pathname } = url;
  const repository = '/2.0/repositories/acme/shop';
  if (pathname === repository) return Response.json({ mainbranch: { name: 'release/next' } });
  if (pathname === `${repository}/refs/branches/release%2Fnext`)
    return Response.json({ target: { hash: 'a'.repeat(40) } });
  const file = /\/src\/a{40}\/(.+)$/.exec(pathname)?.[1];
  if (file !== undefined)
    return host.codeowners?.path === file
      ? new Response(host.codeowners.content)
      : Response.json({ type: 'error', error: { message: 'No such file' } }, { status: 404 });
  if (pathname.endsWith('/pullrequests/7/diffstat'))
    return Response.redirect(`${url.origin}${repository}/diffstat/spec${url.search}`, 302);
  if (pathname.endsWith('/diffstat/spec')) {
    const files = host.files.map(({ path, before }) => ({ new: { path }, old: { path: before ?? path } }));
    return linked(url, files);
  }
  const [, collection, id] = /\/pullrequests\/7\/(comments)(?:\/(\d+))?$/.exec(pathname) ?? [];
  if (collection === undefined)
    return Response.json({ id: 7, source: { commit: { hash: host.head.slice(0, 12) }, branch: { name: 'feature' } } });
  if (id !== undefined) {
    const changed = await change(host, request, Number(id));
    return changed instanceof Response ? changed : Response.json(shown(changed));
  }
  if (request.method === 'POST') return Response.json(shown(host.add(SELF, await textOf(request))), { status: 201 });
  return linked(url, host.comments.map(shown));
}

/** Pages with the whole address of the next one. */
function linked(url: URL, all: readonly unknown[]): Response {
  const size = Math.min(100, Number(url.searchParams.get('pagelen') ?? 10));
  const page = Number(url.searchParams.get('page') ?? 1);
  const hasNext = page * size < all.length;
  url.searchParams.set('page', String(page + 1));
  return Response.json({
    values: all.slice((page - 1) * size, page * size),
    pagelen: size,
    ...(hasNext && { next: url.href }),
  });
}

const versionSchema = z.object({ version: z.number() });

async function asCenter(host: StoredPull, request: Request, url: URL): Promise<Response> {
  const headers = { 'x-ausername': encodeURIComponent(SELF) };
  const refused = (status: number, message: string) => Response.json({ errors: [{ message }] }, { status, headers });
  const shown = ({ id, author, body, version }: StoredComment) => ({
    id,
    version: version ?? 0,
    text: body,
    author: { id: userId(author), name: author },
  });
  const { pathname } = url;
  const file = /\/raw\/(.+)$/.exec(pathname)?.[1];
  if (file !== undefined)
    return host.codeowners?.path === file
      ? new Response(host.codeowners.content)
      : refused(404, 'The path does not exist');
  if (pathname.endsWith('/pull-requests/7/changes')) {
    const changes = host.files.map(({ path, before }) => ({
      path: { toString: path },
      ...(before && { srcPath: { toString: before } }),
    }));
    return from(url, changes, headers);
  }
  if (pathname.endsWith('/pull-requests/7/activities')) {
    const opened = { id: 1, action: 'OPENED' };
    const comments = host.comments.map((comment) => ({
      id: comment.id + 1,
      action: 'COMMENTED',
      commentAction: 'ADDED',
      comment: shown(comment),
    }));
    return from(url, [...comments.reverse(), opened], headers);
  }
  const [, collection, id] = /\/pull-requests\/7\/(comments)(?:\/(\d+))?$/.exec(pathname) ?? [];
  if (collection === undefined)
    return Response.json({ id: 7, fromRef: { id: 'refs/heads/feature', latestCommit: host.head } }, { headers });
  if (id === undefined) return Response.json(shown(host.add(SELF, await textOf(request))), { status: 201, headers });
  const named =
    request.method === 'DELETE'
      ? Number(url.searchParams.get('version'))
      : versionSchema.parse(await request.clone().json()).version;
  const known = host.comments.find((comment) => comment.id === Number(id));
  if (known && (known.version ?? 0) !== named)
    return refused(409, 'You are attempting to modify a comment based on out-of-date information.');
  const changed = await change(host, request, Number(id));
  return changed instanceof Response ? changed : Response.json(shown(changed), { headers });
}

/** Pages that say where the next one starts. */
function from(url: URL, all: readonly unknown[], headers: Record<string, string>): Response {
  const limit = Math.min(100, Number(url.searchParams.get('limit') ?? 25));
  const start = Number(url.searchParams.get('start') ?? 0);
  const isLastPage = start + limit >= all.length;
  const values = all.slice(start, start + limit);
  const nextPageStart = isLastPage ? null : start + limit;
  return Response.json({ values, size: values.length, isLastPage, start, limit, nextPageStart }, { headers });
}
