/**
 * Tokens of a GitHub App for the repositories in which it is installed:
 * https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app. A token is for one repository, an hour.
 */
import { createPrivateKey } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { AppAccess, AppTokens } from '../app.ts';
import { githubPath, githubRest } from './rest.ts';

const installationSchema = z.object({ id: z.number() });
const tokenSchema = z.object({ token: z.string().min(1), expires_at: z.string() });

const TOKENS_MAX = 1_000;
/** A token is used while it is valid for so much longer. */
const MARGIN_MS = 5 * 60_000;
/** GitHub takes ten minutes at most, and its clock may differ. */
const SKEW_SECONDS = 60;
const VALID_SECONDS = 540;

export class GithubApp implements AppTokens {
  readonly #tokens = new LRUCache<string, { token: string; until: number }>({ max: TOKENS_MAX });

  constructor(
    private readonly access: AppAccess & { apiUrl: string },
    /** Milliseconds since the epoch. */
    private readonly now: () => number,
  ) {}

  async tokenFor(repository: string): Promise<string> {
    const key = repository.toLowerCase();
    const known = this.#tokens.get(key);
    if (known && known.until > this.now()) return known.token;
    const rest = githubRest(
      { apiUrl: this.access.apiUrl, token: await this.#signed() },
      `Check HOST_APPS: the id of the App and its key. The App must be installed in ${repository}`,
    );
    const { id } = await rest.ask(`${githubPath(repository)}/installation`, installationSchema);
    const asked = {
      method: 'POST',
      json: { repositories: [repository.split('/')[1]] },
      // A second token does no harm.
      isRepeatable: true,
    } as const;
    const made = await rest.ask(`/app/installations/${id}/access_tokens`, tokenSchema, asked);
    const until = Date.parse(made.expires_at) - MARGIN_MS;
    this.#tokens.set(key, { token: made.token, until: Number.isFinite(until) ? until : 0 });
    return made.token;
  }

  forget(repository: string): void {
    this.#tokens.delete(repository.toLowerCase());
  }

  async #signed(): Promise<string> {
    const { SignJWT } = await import('jose');
    const seconds = Math.floor(this.now() / 1_000);
    return new SignJWT()
      .setProtectedHeader({ alg: 'RS256' })
      .setIssuer(this.access.appId)
      .setIssuedAt(seconds - SKEW_SECONDS)
      .setExpirationTime(seconds + VALID_SECONDS)
      .sign(createPrivateKey(this.access.privateKey));
  }
}
