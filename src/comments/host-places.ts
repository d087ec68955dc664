/** Where the service reads and writes at a host: a repository there, with a token for it. */
import { hostOfOwner, ownerOnHost } from '../domain/host-address.ts';
import type { HostKindName } from '../domain/host-page.ts';
import type { AppTokens } from '../hosts/app.ts';
import type { Host } from '../hosts/host.ts';
import { HOSTS } from '../hosts/hosts.ts';
import type { RemoteRepository } from '../hosts/remote.ts';
import type { HostSite } from '../hosts/site.ts';

/** A repository, and where people see it: null if no one has said so. */
export interface PlacedRepository {
  owner: string;
  name: string;
  hostKind: HostKindName | null;
  hostUrl: string | null;
}

export class HostPlaces {
  /** By name of the host. */
  readonly #apps = new Map<string, AppTokens>();

  constructor(
    private readonly sites: readonly HostSite[],
    now: () => number,
  ) {
    for (const { name, kind, apiUrl, credential } of sites) {
      const host: Host = HOSTS[kind];
      const app = credential && 'appId' in credential ? host.app?.({ apiUrl, ...credential }, now) : undefined;
      if (app) this.#apps.set(name, app);
    }
  }

  /** Undefined if the repository is on a host without a credential here. */
  siteOf({ owner, name, hostKind, hostUrl }: PlacedRepository): HostSite | undefined {
    const site = hostOfOwner(this.sites, owner);
    // An address resolves these as steps in the path. No host has such a repository.
    if (!site?.credential || name === '.' || name === '..') return undefined;
    const isThere = (hostKind === null || hostKind === site.kind) && isBelow(hostUrl, site.url);
    return isThere ? site : undefined;
  }

  /** Undefined as {@link siteOf}. Throws a HostError. */
  async of(repository: PlacedRepository): Promise<{ host: Host; remote: RemoteRepository } | undefined> {
    const site = this.siteOf(repository);
    if (!site?.credential) return undefined;
    const { apiUrl, credential, kind } = site;
    const path = pathOn(site, repository);
    const token = 'token' in credential ? credential.token : await this.#apps.get(site.name)?.tokenFor(path);
    return token === undefined ? undefined : { host: HOSTS[kind], remote: HOSTS[kind].remote({ apiUrl, token, path }) };
  }

  /** After a refusal, the next attempt asks for another token. */
  forget(repository: PlacedRepository): void {
    const site = this.siteOf(repository);
    if (site) this.#apps.get(site.name)?.forget(pathOn(site, repository));
  }
}

function pathOn(site: HostSite, { owner, name, hostUrl }: PlacedRepository): string {
  const { pathOfPage }: Host = HOSTS[site.kind];
  if (!pathOfPage || hostUrl === null) return `${ownerOnHost(site, owner)}/${name}`;
  return pathOfPage(hostUrl.slice(site.url.length).replace(/^\/+|\/+$/g, ''));
}

/** Of a repository that no one has placed, it is not known that it is elsewhere. */
const isBelow = (page: string | null, url: string): boolean =>
  page === null || page.toLowerCase().startsWith(`${url.toLowerCase()}/`);
