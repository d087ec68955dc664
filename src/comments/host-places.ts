/** Where the service writes at a host: the place of a repository there, and a token for it. */

import type { CommentsConfig } from '../comments-config.ts';
import type { GithubRepository } from '../host-api/github-api.ts';
import { GithubApp } from '../host-api/github-app.ts';

export type HostPlace =
  | (GithubRepository & { kind: 'github' })
  | { kind: 'gitlab'; apiUrl: string; token: string; project: string };

/** A repository, and where people see it: null if no one has said so. */
export interface PlacedRepository {
  owner: string;
  name: string;
  hostKind: string | null;
  hostUrl: string | null;
}

export class HostPlaces {
  readonly #app: GithubApp | undefined;

  constructor(
    private readonly config: CommentsConfig,
    now: () => number,
  ) {
    const { github } = config;
    this.#app =
      github && 'appId' in github.credential ? new GithubApp({ ...github, ...github.credential }, now) : undefined;
  }

  /** Undefined if the repository is on a host without a credential here. Throws a HostError. */
  async of({ owner, name, hostKind, hostUrl }: PlacedRepository): Promise<HostPlace | undefined> {
    const { github, gitlab } = this.config;
    // An address resolves these as steps in the path. No host has such a repository.
    if (name === '.' || name === '..') return undefined;
    const isOnGithub = hostKind === null ? github !== undefined : hostKind === 'github';
    if (github && isOnGithub && isBelow(hostUrl, github.webUrl)) {
      const repository = `${owner}/${name}`;
      const { apiUrl, graphqlUrl, credential } = github;
      const token = 'token' in credential ? credential.token : await this.#app?.tokenFor(repository);
      return token === undefined ? undefined : { kind: 'github', apiUrl, graphqlUrl, repository, token };
    }
    if (!gitlab || isOnGithub || (hostKind !== null && hostKind !== 'gitlab') || !isBelow(hostUrl, gitlab.webUrl))
      return undefined;
    const { apiUrl, webUrl, token } = gitlab;
    const project = hostUrl === null ? `${owner}/${name}` : hostUrl.slice(webUrl.length).replace(/^\/+|\/+$/g, '');
    return { kind: 'gitlab', apiUrl, token, project };
  }

  /** After a refusal, the next attempt asks for another token. */
  forget({ owner, name }: PlacedRepository): void {
    this.#app?.forget(`${owner}/${name}`);
  }
}

/** Of a repository that no one has placed, it is not known that it is elsewhere. */
const isBelow = (page: string | null, webUrl: string): boolean =>
  page === null || page.toLowerCase().startsWith(`${webUrl.toLowerCase()}/`);
