/**
 * REST APIs of GitLab, Gitea, Bitbucket Cloud and Bitbucket Data Center on this machine, as far as they say who a token is and
 * what it may do. Each answers as its documentation says; `trouble` answers in its place.
 */
export type Kind = 'gitlab' | 'gitea' | 'bitbucket-cloud' | 'bitbucket-data-center';

interface KnownToken {
  /** Null: it belongs to no person. */
  login: string | null;
  /** Of the user on the project: GitLab's access level, else whether it may write. */
  level: number;
  scopes: readonly string[];
  /** The address of the job, for a job's token of GitLab. */
  job?: string;
}

interface Hosted {
  isPrivate: boolean;
  defaultBranch: string | null;
}

export class HostApiServer {
  readonly tokens = new Map<string, KnownToken>();
  /** By path on the host, such as `acme/web/shop`. */
  readonly repositories = new Map<string, Hosted>();
  /** Method and path of each request, with the token that it sent. */
  readonly requests: [string, string][] = [];
  trouble: (url: URL) => Response | undefined = () => undefined;
  readonly #server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#serve(request) });

  constructor(readonly kind: Kind) {}

  get origin(): string {
    return this.#server.url.origin;
  }

  stop = (): Promise<void> => this.#server.stop(true);

  #serve(request: Request): Response {
    const url = new URL(request.url);
    const sent = this.#sentBy(request.headers);
    this.requests.push([url.pathname, sent]);
    const trouble = this.trouble(url);
    if (trouble) return trouble;
    const token = this.tokens.get(sent);
    if (!token) return Response.json({ message: '401 Unauthorized' }, { status: 401 });
    return this.#answer(url, token) ?? Response.json({ message: '404 Not Found' }, { status: 404 });
  }

  #sentBy(headers: Headers): string {
    if (this.kind === 'gitlab') return headers.get('private-token') ?? headers.get('job-token') ?? '';
    const [, word, token] = /^(\w+) (.+)$/.exec(headers.get('authorization') ?? '') ?? [];
    return word === (this.kind === 'gitea' ? 'token' : 'Bearer') ? (token ?? '') : '';
  }

  #answer(url: URL, token: KnownToken): Response | undefined {
    switch (this.kind) {
      case 'gitlab':
        return this.#gitlab(url, token);
      case 'gitea':
        return this.#gitea(url, token);
      case 'bitbucket-cloud':
        return this.#cloud(url, token);
      case 'bitbucket-data-center':
        return this.#center(url, token);
    }
  }

  #gitlab({ pathname }: URL, token: KnownToken): Response | undefined {
    const path = pathname.replace('/api/v4', '');
    if (path === '/job')
      return token.job === undefined
        ? undefined
        : Response.json({ id: 7, user: { username: token.login }, web_url: token.job });
    if (token.job !== undefined) return undefined;
    if (path === '/user') return Response.json({ id: 1, username: token.login });
    if (path === '/personal_access_tokens/self') return Response.json({ id: 4, scopes: token.scopes });
    const name = decodeURIComponent(/^\/projects\/([^/]+)$/.exec(path)?.[1] ?? '');
    const found = this.repositories.get(name);
    if (!found || (found.isPrivate && token.level === 0)) return undefined;
    const project_access = token.level > 0 ? { access_level: token.level, notification_level: 3 } : null;
    return Response.json({
      id: 15,
      path_with_namespace: name,
      visibility: found.isPrivate ? 'private' : 'public',
      default_branch: found.defaultBranch,
      permissions: { project_access, group_access: null },
    });
  }

  #gitea({ pathname }: URL, token: KnownToken): Response | undefined {
    const path = pathname.replace('/api/v1', '');
    if (path === '/user') return Response.json({ id: 1, login: token.login });
    const found = this.repositories.get(/^\/repos\/(.+)$/.exec(path)?.[1] ?? '');
    if (!found || (found.isPrivate && token.level === 0)) return undefined;
    const permissions = { admin: false, push: token.level > 1, pull: true };
    return Response.json({ id: 140, default_branch: found.defaultBranch, permissions });
  }

  #cloud({ pathname }: URL, token: KnownToken): Response | undefined {
    const found = this.repositories.get(/^\/2\.0\/repositories\/(.+)$/.exec(pathname)?.[1] ?? '');
    if (!found || (found.isPrivate && token.level === 0)) return undefined;
    const mainbranch = found.defaultBranch === null ? null : { type: 'branch', name: found.defaultBranch };
    return Response.json(
      { type: 'repository', mainbranch },
      { headers: { 'x-oauth-scopes': token.scopes.join(', ') } },
    );
  }

  #center({ pathname, searchParams }: URL, token: KnownToken): Response | undefined {
    const path = pathname.replace('/rest/api/1.0', '');
    const headers: Record<string, string> = token.login === null ? {} : { 'x-ausername': token.login };
    if (path === '/application-properties') return Response.json({ version: '9.4.0' }, { headers });
    const shown = [...this.repositories].filter(([, { isPrivate }]) => !isPrivate || token.level > 0);
    if (path === '/repos') {
      const writable = token.level > 1 && searchParams.get('permission') === 'REPO_WRITE' ? shown : [];
      const values = writable.map(([name]) => ({ slug: name.split('/')[1], project: { key: name.split('/')[0] } }));
      return Response.json({ size: values.length, isLastPage: true, values }, { headers });
    }
    const [, project, slug, rest = ''] = /^\/projects\/([^/]+)\/repos\/([^/]+)(\/.+)?$/.exec(path) ?? [];
    const found = shown.find(([name]) => name === `${project}/${slug}`)?.[1];
    if (!found) return undefined;
    if (rest === '') return Response.json({ slug, project: { key: project } }, { headers });
    return found.defaultBranch === null ? undefined : Response.json({ displayId: found.defaultBranch }, { headers });
  }
}
