/**
 * A repository host on this machine with the part of the REST API that says what a token may do: users, installations,
 * repositories with permissions, renames. It records every request, and can fail in the ways of a real one.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface HostedRepository {
  id: number;
  private: boolean;
  defaultBranch: string;
  /** By login. */
  permissions: Map<string, { pull: boolean; push: boolean }>;
}

interface Token {
  /** Null for an installation, which is not a user. */
  login: string | null;
  /** Scopes of a classic token; other kinds have none. */
  scopes: string | undefined;
  /** Full names that an installation may read. */
  installedIn: readonly string[];
}

/** Answers a request in place of the host; `undefined` lets the host answer. */
export type Trouble = ((request: IncomingMessage, response: ServerResponse) => boolean) & { isEndless?: boolean };

const endless = (trouble: Trouble): Trouble => Object.assign(trouble, { isEndless: true });

export interface NotedRequest {
  method: string;
  path: string;
  authorization: string | undefined;
}

export class FakeHost {
  readonly requests: NotedRequest[] = [];
  readonly #tokens = new Map<string, Token>();
  readonly #repositories = new Map<string, HostedRepository>();
  readonly #renamed = new Map<string, string>();
  #server: Server | undefined;
  #port = 0;
  #trouble: Trouble | undefined;

  /** @param prefix is the start of every path: `/api/v3` on an enterprise host. */
  constructor(readonly prefix = '') {}

  get url(): string {
    return `http://127.0.0.1:${this.#port}${this.prefix}`;
  }

  /** Listens; after {@link stop}, on the same port again. */
  async start(): Promise<this> {
    const server = createServer((request, response) => this.#serve(request, response));
    await new Promise<void>((resolve) => server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (server.address() as AddressInfo).port;
    this.#server = server;
    return this;
  }

  /** Stops listening: connections are refused from now on. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    server?.closeAllConnections();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }

  addUser(login: string, token: string, scopes?: string): void {
    this.#tokens.set(token, { login, scopes, installedIn: [] });
  }

  addInstallation(token: string, installedIn: readonly string[]): void {
    this.#tokens.set(token, {
      login: null,
      scopes: undefined,
      installedIn: installedIn.map((name) => name.toLowerCase()),
    });
  }

  revoke(token: string): void {
    this.#tokens.delete(token);
  }

  /** @param fullName such as `acme/shop` */
  addRepository(fullName: string, { isPrivate = true, defaultBranch = 'main' } = {}): void {
    const id = this.#repositories.size + 1;
    this.#repositories.set(fullName.toLowerCase(), {
      id,
      private: isPrivate,
      defaultBranch,
      permissions: new Map(),
    });
  }

  setDefaultBranch(fullName: string, branch: string): void {
    this.#repository(fullName).defaultBranch = branch;
  }

  allow(login: string, fullName: string, permissions: { pull: boolean; push: boolean }): void {
    this.#repository(fullName).permissions.set(login, permissions);
  }

  /** The old name redirects to the repository's number, as on a real host. */
  rename(from: string, to: string): void {
    const found = this.#repository(from);
    this.#repositories.delete(from.toLowerCase());
    this.#repositories.set(to.toLowerCase(), found);
    this.#renamed.set(from.toLowerCase(), to);
  }

  /** From now on `trouble` answers first; without one the host is healthy again. */
  beInTrouble(trouble?: Trouble): void {
    this.#trouble = trouble;
  }

  /** Whether its answers do not end. */
  get isEndless(): boolean {
    return this.#trouble?.isEndless === true;
  }

  /** Forgets the requests so far. */
  forgetRequests(): void {
    this.requests.length = 0;
  }

  /** How often a path was requested, without the prefix. */
  count(path: string): number {
    return this.requests.filter((request) => request.path === `${this.prefix}${path}`).length;
  }

  #repository(fullName: string): HostedRepository {
    const found = this.#repositories.get(fullName.toLowerCase());
    if (!found) throw new Error(`the fake host has no ${fullName}`);
    return found;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const { method = '', url: path = '' } = request;
    const { authorization } = request.headers;
    this.requests.push({ method, path, authorization });
    if (this.#trouble?.(request, response)) return;
    const token = this.#tokens.get(/^Bearer (.+)$/.exec(authorization ?? '')?.[1] ?? '');
    if (token?.scopes !== undefined) response.setHeader('x-oauth-scopes', token.scopes);
    const { status, body, location } = token ? this.#answer(path, token) : BAD_CREDENTIALS;
    if (location !== undefined) response.setHeader('location', location);
    send(response, status, body);
  }

  #answer(path: string, token: Token): Answer {
    if (!path.startsWith(`${this.prefix}/`)) return NOT_FOUND;
    const asked = path.slice(this.prefix.length);
    if (asked === '/rate_limit')
      return { status: 200, body: { resources: {}, rate: { limit: 5_000, remaining: 4_999 } } };
    if (asked === '/user')
      return token.login === null
        ? { status: 403, body: { message: 'Resource not accessible by integration' } }
        : { status: 200, body: { login: token.login, id: 1, type: 'User' } };
    const fullName = /^\/repos\/([^/]+\/[^/]+)$/.exec(asked)?.[1]?.toLowerCase() ?? '';
    const renamedTo = this.#renamed.get(fullName);
    if (renamedTo !== undefined) {
      const location = `${this.url}/repositories/${this.#repository(renamedTo).id}`;
      return { status: 301, body: { message: 'Moved Permanently' }, location };
    }
    const id = Number(/^\/repositories\/(\d+)$/.exec(asked)?.[1]);
    const found = [...this.#repositories].find(([name, repository]) => name === fullName || repository.id === id);
    const permissions = found && permissionsOf(token, ...found);
    if (!found || !permissions) return NOT_FOUND;
    const [name, repository] = found;
    const { id: its, private: isPrivate, defaultBranch } = repository;
    const body = { id: its, full_name: name, private: isPrivate, default_branch: defaultBranch, permissions };
    return { status: 200, body };
  }
}

interface Answer {
  status: number;
  body: unknown;
  location?: string;
}

const NOT_FOUND: Answer = { status: 404, body: { message: 'Not Found' } };
const BAD_CREDENTIALS: Answer = { status: 401, body: { message: 'Bad credentials' } };

/** The `permissions` that the host shows; undefined if the token does not see the repository. */
function permissionsOf(token: Token, name: string, repository: HostedRepository): Record<string, boolean> | undefined {
  const isSeen = !repository.private || token.installedIn.includes(name);
  if (token.login === null)
    // An installation is not a user: a real host says false to everything, whatever the installation may do.
    return isSeen ? { admin: false, maintain: false, push: false, triage: false, pull: false } : undefined;
  const given = repository.permissions.get(token.login) ?? (isSeen ? { pull: true, push: false } : undefined);
  return given && { admin: false, maintain: false, triage: false, ...given };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
}

/** Ways to fail. */
export const troubles = {
  status:
    (status: number, message = 'trouble', headers: Record<string, string> = {}): Trouble =>
    (_, response) => {
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
      send(response, status, { message });
      return true;
    },
  /** 200 with an unexpected body. */
  garbled:
    (body: string): Trouble =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(body);
      return true;
    },
  /** Never answers. */
  silent: (): Trouble => endless(() => true),
  /** Sends the headers and the first bytes of a body, and nothing more. */
  stuck: (): Trouble =>
    endless((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
      response.write('{"login":');
      return true;
    }),
  /** Breaks the connection. */
  dropped: (): Trouble => (request) => {
    request.socket.destroy();
    return true;
  },
  redirect:
    (location: string, status = 301): Trouble =>
    (_, response) => {
      response.setHeader('location', location);
      send(response, status, { message: 'Moved' });
      return true;
    },
} satisfies Record<string, (...args: never[]) => Trouble>;
