/**
 * Tokens of the repository host as credentials of requests: a token may do here what the host says it may do with that
 * repository. Neither a token nor its holder is stored; memory keeps only the SHA-256 of tokens.
 */

import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { type AddressedHost, hostOfOwner, ownerOnHost } from '../domain/host-address.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import type { HostAnswer, Unavailable } from '../hosts/api/answer.ts';
import type { HostRepository, HostTokens } from '../hosts/host.ts';
import { HOSTS } from '../hosts/hosts.ts';
import type { HostSite } from '../hosts/site.ts';
import type { Access, Credential, CredentialSource, Permission } from '../http/auth.ts';
import { forbidden, HttpProblem } from '../http/problems.ts';
import type { Logger } from '../observability/log.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { AnswerCache } from './host-cache.ts';
import { Circuit } from './host-circuit.ts';
import { HostDefaultBranches } from './host-default-branch.ts';

/** How long a yes holds: a revocation takes effect within this time. */
const GRANTED_MS = 5 * 60_000;
/** How long a no holds: short, so that new access works soon. */
const REFUSED_MS = 10_000;

/** For a host behind a proxy that lets questions about repositories through, but not about users. */
const UNSHOWN_ACTOR = 'ghost';

/**
 * Pull access reads, including the event log. Anyone who may push code may also change what the tests of the code are
 * worth. Settings need a key: the service does not ask the host who its administrators are.
 */
const NEEDS: Record<Permission, 'pull' | 'push' | null> = {
  read: 'pull',
  events: 'pull',
  upload: 'push',
  quarantine: 'push',
  administer: null,
};

/** The host gave neither a yes nor a no. The same request may succeed later. */
class HostUnavailable extends HttpProblem {
  override name = 'HostUnavailable';
  /** @param reason for the log; never holds a token */
  constructor(
    readonly reason: string,
    retryAfterMs: number,
  ) {
    const detail =
      'The service cannot ask the repository host about this token right now. Try again later, or use an application key.';
    super(503, 'Service unavailable', detail, { 'retry-after': String(Math.max(1, Math.ceil(retryAfterMs / 1_000))) });
    // For the log only: clients do not see causes.
    this.cause = new Error(reason);
  }
}

interface HostCredentialsDeps {
  clock: Clock;
  log: Logger;
  repositories: RepositoryStore;
}

type CredentialHost = Pick<HostSite, 'name' | 'kind' | 'isDefault' | 'apiUrl' | 'isAsked'>;

/**
 * The credential sources of the hosts whose tokens are accepted.
 *
 * @example
 * buildApp({ …, credentials: hostCredentials(config.hosts, deps) });
 */
export const hostCredentials = (hosts: readonly CredentialHost[], deps: HostCredentialsDeps): HostCredentials[] =>
  hosts
    .filter(({ isAsked }) => isAsked)
    .map((site) => {
      const { apiUrl, kind } = site;
      return new HostCredentials(HOSTS[kind].tokens({ clock: deps.clock, apiUrl }), deps, { site, hosts });
    });

/** Which of the hosts the tokens are of. */
interface Place {
  site: AddressedHost;
  hosts: readonly AddressedHost[];
}

const ONLY: AddressedHost = { name: 'github', isDefault: true };

type Settled<T> = Exclude<HostAnswer<T>, Unavailable>;

export class HostCredentials implements CredentialSource {
  readonly #tokens: HostTokens;
  readonly #place: Place;
  readonly #circuit: Circuit;
  readonly #actors: AnswerCache<Settled<string | null>>;
  readonly #repositories: AnswerCache<Settled<HostRepository>>;
  readonly #defaultBranches: HostDefaultBranches;

  constructor(
    tokens: HostTokens,
    { clock, log, repositories }: HostCredentialsDeps,
    place: Place = { site: ONLY, hosts: [ONLY] },
  ) {
    this.#tokens = tokens;
    this.#place = place;
    this.#circuit = new Circuit(clock, isHostDown, (isOpen) => {
      if (isOpen) log.warn('the repository host is not responding; pausing requests to it, its tokens get 503');
      else log.info('the repository host is responding again');
    });
    this.#actors = new AnswerCache(clock);
    this.#repositories = new AnswerCache(clock);
    this.#defaultBranches = new HostDefaultBranches(repositories, log);
  }

  /**
   * Undefined, without asking, for anything but a host token. Throws 403 if the host does not know it, 503 if it cannot
   * be asked.
   */
  async find(token: string, request?: Request): Promise<Credential | undefined> {
    if (!this.#tokens.isToken(token) || !this.#isAddressed(request)) return undefined;
    const hash = createHash('sha256').update(token).digest('hex');
    const answer = await this.#actors.get(
      hash,
      () => this.#ask(() => this.#tokens.actor(token)),
      ({ kind }) => (kind === 'found' ? GRANTED_MS : REFUSED_MS),
    );
    if (answer.kind === 'unavailable') throw new HostUnavailable(answer.reason, answer.retryAfterMs);
    if (answer.kind !== 'found')
      throw forbidden('The repository host rejects this token: it is unknown, expired or revoked.');
    const actor = answer.value;
    return {
      actor: actor ?? UNSHOWN_ACTOR,
      access: async (repository, permission) => {
        const access = await this.#access(token, hash, repository, permission);
        // A host that shows a token neither its user nor the repository is most likely asked at the wrong address.
        if (access === 'hidden' && actor === null)
          throw new HostUnavailable(
            '404 to the user and to the repository: is the address of the host right (HOSTS)?',
            REFUSED_MS,
          );
        return access;
      },
    };
  }

  /**
   * A token is sent to the host of the repository that the request names, and to no other. A request that names none may
   * have a token of any host whose tokens look so: the first in the configuration is asked.
   */
  #isAddressed(request: Request | undefined): boolean {
    const owner = request && ownerOf(request);
    return owner === undefined || hostOfOwner(this.#place.hosts, owner) === this.#place.site;
  }

  /** Asks, unless the circuit is open. That is thrown and not cached: it ends as soon as the host answers anyone. */
  async #ask<T>(question: () => Promise<HostAnswer<T>>): Promise<HostAnswer<T>> {
    const asked = await this.#circuit.run(question);
    if ('waitMs' in asked) throw new HostUnavailable('paused after failures', asked.waitMs);
    return asked.result;
  }

  async #access(token: string, hash: string, repository: RepositoryName, permission: Permission): Promise<Access> {
    const { owner, name } = repository;
    const { site, hosts } = this.#place;
    if (hostOfOwner(hosts, owner) !== site) return 'hidden';
    const onHost = { owner: ownerOnHost(site, owner), name };
    const need = NEEDS[permission];
    const isGranted = (found: HostRepository): boolean => need !== null && found[need];
    const answer = await this.#repositories.get(
      `${hash} ${owner}/${name}`.toLowerCase(),
      () => this.#ask(() => this.#tokens.repository(token, onHost)),
      (known) => (known.kind === 'found' && isGranted(known.value) ? GRANTED_MS : REFUSED_MS),
    );
    if (answer.kind === 'unavailable') throw new HostUnavailable(answer.reason, answer.retryAfterMs);
    if (answer.kind === 'refused') return 'forbidden';
    if (answer.kind === 'missing' || !answer.value.pull) return 'hidden';
    this.#defaultBranches.learn(repository, answer.value);
    return isGranted(answer.value) ? 'granted' : 'forbidden';
  }
}

/** The owner in the address of a request; undefined if it names none. */
function ownerOf(request: Request): string | undefined {
  return /^\/v1\/(?:ci|repos)\/([^/]+)\//.exec(new URL(request.url).pathname)?.[1];
}

const isHostDown = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'isHostDown' in answer && answer.isHostDown === true;
