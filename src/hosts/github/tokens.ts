/** GitHub's REST API: who a token is, and what it may do with a repository. */
import { z } from 'zod';
import { NAME_LENGTH_MAX } from '../../domain/limits.ts';
import type { RepositoryName } from '../../domain/repository-path.ts';
import type { HostAnswer } from '../api/answer.ts';
import { TokenQuestions } from '../api/token-questions.ts';
import type { HostRepository, HostTokens, HostTokensOptions } from '../host.ts';

/**
 * Tokens of a person (`ghp_`, `github_pat_`), an OAuth app (`gho_`), an app on behalf of a user (`ghu_`) and an
 * installation (`ghs_`). Refresh tokens (`ghr_`) are not credentials of the API. Token lengths have changed before, so
 * only what cannot be a token is excluded.
 */
const TOKEN = /^(?:ghp_|gho_|ghu_|ghs_|github_pat_)[A-Za-z0-9_.-]{1,1024}$/;
const isInstallation = (token: string): boolean => token.startsWith('ghs_');

/** An installation has no user, and nearly all such tokens belong to workflow runs. */
const INSTALLATION_ACTOR = 'github-actions[bot]';

const userSchema = z.object({ login: z.string().min(1).max(NAME_LENGTH_MAX) });
const repositorySchema = z.object({
  private: z.boolean().optional(),
  default_branch: z.string().min(1).max(NAME_LENGTH_MAX).nullish(),
  permissions: z.object({ pull: z.boolean(), push: z.boolean() }),
});

export class GitHubTokens implements HostTokens {
  readonly #questions: TokenQuestions;

  constructor(options: HostTokensOptions) {
    this.#questions = new TokenQuestions({
      ...options,
      headersOf: (token) => ({
        accept: 'application/vnd.github+json',
        authorization: `Bearer ${token}`,
        'x-github-api-version': '2022-11-28',
      }),
    });
  }

  isToken(text: string): boolean {
    return TOKEN.test(text);
  }

  async actor(token: string): Promise<HostAnswer<string | null>> {
    if (isInstallation(token)) {
      // Does not count against its rate limit. An enterprise host without limits answers 404 to every token it accepts.
      const answer = await this.#questions.get('/rate_limit', token, () => INSTALLATION_ACTOR);
      return answer.kind === 'missing' ? { kind: 'found', value: INSTALLATION_ACTOR } : answer;
    }
    const answer = await this.#questions.get('/user', token, (body) => userSchema.parse(body).login);
    // The address is not that of a REST API, or a proxy lets only a part of it through.
    return answer.kind === 'missing' ? { kind: 'found', value: null } : answer;
  }

  async repository(token: string, { owner, name }: RepositoryName): Promise<HostAnswer<HostRepository>> {
    // A URL resolves these as steps in the path, so the question would be a different one.
    if (name === '.' || name === '..') return { kind: 'missing' };
    const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
    return this.#questions.get(path, token, (body, headers) => {
      const { permissions, default_branch, ...found } = repositorySchema.parse(body);
      const push = permissions.push && mayWrite(headers.get('x-oauth-scopes'), found.private ?? true);
      // `permissions` are those of a user: for an installation all of them are false, even if it may read. The answer
      // itself shows that it may read; whether it may write cannot be asked, so that stays as the host says.
      return { pull: permissions.pull || isInstallation(token), push, defaultBranch: default_branch ?? null };
    });
  }
}

/**
 * `permissions` are those of the user. A classic token may do less, as its scopes say; other tokens send no scopes.
 */
function mayWrite(scopes: string | null, isPrivate: boolean): boolean {
  if (scopes === null) return true;
  const listed = scopes.split(',').map((scope) => scope.trim());
  return listed.includes('repo') || (!isPrivate && listed.includes('public_repo'));
}
