/**
 * Tokens of the repository host as credentials of requests (design §4 "Authentication"): what a token may do here is what the
 * host says it may do with that repository. Neither a token nor its holder is stored; memory keeps SHA-256 of tokens only.
 */

import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import type { Access, Credential, CredentialSource, Permission } from '../http/auth.ts';
import { forbidden, HttpProblem } from '../http/problems.ts';
import type { Logger } from '../observability/log.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { GitHubClient, type HostRepository } from './github-client.ts';
import type { HostAnswer, Unavailable } from './host-answer.ts';
import { AnswerCache } from './host-cache.ts';
import { Circuit } from './host-circuit.ts';
import { HostDefaultBranches } from './host-default-branch.ts';

/** How long a yes serves: within this time a revocation is seen. */
const GRANTED_MS = 5 * 60_000;
/** How long a no serves: whoever was just given access does not wait for it. */
const REFUSED_MS = 10_000;

/**
 * Personal (`ghp_`, `github_pat_`), of an OAuth app (`gho_`), of an app for a user (`ghu_`) and of an installation (`ghs_`). A refresh token
 * (`ghr_`) is no credential of the API. Lengths have changed before, so only what cannot be a token is left out.
 */
const HOST_TOKEN = /^(?:ghp_|gho_|ghu_|ghs_|github_pat_)[A-Za-z0-9_.-]{1,1024}$/;
const isInstallation = (token: string): boolean => token.startsWith('ghs_');

/** An installation has no user whom one could ask for, and nearly all such tokens belong to workflow runs. */
const INSTALLATION_ACTOR = 'github-actions[bot]';

/** Where a proxy before the host lets questions about repositories through, and none about users. */
const UNSHOWN_ACTOR = 'ghost';

/** Who may pull reads, the event log included; who may push code may also change what the code's tests are worth. */
const NEEDS: Record<Permission, 'pull' | 'push'> = {
  read: 'pull',
  events: 'pull',
  upload: 'push',
  quarantine: 'push',
};

/** The host gave no answer: neither yes nor no. The same request may succeed later. */
export class HostUnavailable extends HttpProblem {
  override name = 'HostUnavailable';
  /** @param reason for the log; holds no token. */
  constructor(
    readonly reason: string,
    retryAfterMs: number,
  ) {
    const detail =
      'The service cannot ask the repository host about this token now. Try again later, or use an application key.';
    super(503, 'Service unavailable', detail, { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) });
    // The log tells of causes, the client is not told of them.
    this.cause = new Error(reason);
  }
}

export interface HostCredentialsDeps {
  clock: Clock;
  log: Logger;
  repositories: RepositoryStore;
}

/**
 * The credentials of a host by the address of its REST API; none without an address.
 *
 * @example
 * buildApp({ …, credentials: hostCredentials(config.githubApiUrl, deps) });
 */
export const hostCredentials = (apiUrl: string | undefined, deps: HostCredentialsDeps): HostCredentials[] =>
  apiUrl === undefined ? [] : [new HostCredentials(new GitHubClient({ clock: deps.clock, apiUrl }), deps)];

type Settled<T> = Exclude<HostAnswer<T>, Unavailable>;

export class HostCredentials implements CredentialSource {
  readonly #client: GitHubClient;
  readonly #circuit: Circuit;
  readonly #actors: AnswerCache<Settled<string | null>>;
  readonly #repositories: AnswerCache<Settled<HostRepository>>;
  readonly #defaultBranches: HostDefaultBranches;

  constructor(client: GitHubClient, { clock, log, repositories }: HostCredentialsDeps) {
    this.#client = client;
    this.#circuit = new Circuit(clock, isHostDown, (isOpen) => {
      if (isOpen) log.warn('the repository host does not answer: it is left alone for a while, its tokens get 503');
      else log.info('the repository host answers again');
    });
    this.#actors = new AnswerCache(clock);
    this.#repositories = new AnswerCache(clock);
    this.#defaultBranches = new HostDefaultBranches(repositories, log);
  }

  /** Undefined for what is no host token, without asking. 403 when the host does not know it, 503 when it cannot be asked. */
  async find(token: string): Promise<Credential | undefined> {
    if (!HOST_TOKEN.test(token)) return undefined;
    const hash = createHash('sha256').update(token).digest('hex');
    const answer = await this.#actors.get(
      hash,
      () => this.#ask(() => this.#actorOf(token)),
      ({ kind }) => (kind === 'found' ? GRANTED_MS : REFUSED_MS),
    );
    if (answer.kind === 'unavailable') throw new HostUnavailable(answer.reason, answer.retryAfterMs);
    if (answer.kind !== 'found')
      throw forbidden('The repository host does not accept this token: it is unknown, expired or revoked.');
    const actor = answer.value;
    return {
      actor: actor ?? UNSHOWN_ACTOR,
      access: async (repository, permission) => {
        const access = await this.#access(token, hash, repository, permission);
        // A host that shows neither its user nor the repository to a token is most likely not asked at its right address.
        if (access === 'hidden' && actor === null)
          throw new HostUnavailable('404 to GET /user and to the repository: is GITHUB_API_URL right?', REFUSED_MS);
        return access;
      },
    };
  }

  /** Asks, unless the host is to be left alone. That is thrown and not remembered: it ends when the host answers anyone. */
  async #ask<T>(question: () => Promise<HostAnswer<T>>): Promise<HostAnswer<T>> {
    const asked = await this.#circuit.run(question);
    if ('waitMs' in asked) throw new HostUnavailable('left alone after failures', asked.waitMs);
    return asked.result;
  }

  /** Null: the host does not say. */
  async #actorOf(token: string): Promise<HostAnswer<string | null>> {
    if (isInstallation(token)) {
      const answer = await this.#client.accepts(token);
      return answer.kind === 'found' ? { kind: 'found', value: INSTALLATION_ACTOR } : answer;
    }
    const answer = await this.#client.user(token);
    if (answer.kind === 'missing') return { kind: 'found', value: null };
    return answer.kind === 'found' ? { kind: 'found', value: answer.value.login } : answer;
  }

  async #repositoryOf(token: string, { owner, name }: RepositoryName): Promise<HostAnswer<HostRepository>> {
    const answer = await this.#client.repository(token, owner, name);
    if (answer.kind !== 'found' || !isInstallation(token)) return answer;
    // `permissions` are a user's: for an installation all of them are false, also where it may read. That it was
    // answered at all shows that it may; whether it may write is nowhere to be asked, so that stays as the host says.
    return { kind: 'found', value: { ...answer.value, pull: true } };
  }

  async #access(token: string, hash: string, repository: RepositoryName, permission: Permission): Promise<Access> {
    const { owner, name } = repository;
    const isGranted = (found: HostRepository): boolean => found[NEEDS[permission]];
    const answer = await this.#repositories.get(
      `${hash} ${owner}/${name}`.toLowerCase(),
      () => this.#ask(() => this.#repositoryOf(token, repository)),
      (known) => (known.kind === 'found' && isGranted(known.value) ? GRANTED_MS : REFUSED_MS),
    );
    if (answer.kind === 'unavailable') throw new HostUnavailable(answer.reason, answer.retryAfterMs);
    if (answer.kind === 'refused') return 'forbidden';
    if (answer.kind === 'missing' || !answer.value.pull) return 'hidden';
    this.#defaultBranches.learn(repository, answer.value);
    return isGranted(answer.value) ? 'granted' : 'forbidden';
  }
}

const isHostDown = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'isHostDown' in answer && answer.isHostDown === true;
