/** The REST API of Gitea and Forgejo: who a token is, and what it may read. https://docs.gitea.com/development/api-usage */
import { z } from 'zod';
import { NAME_LENGTH_MAX } from '../../domain/limits.ts';
import type { RepositoryName } from '../../domain/repository-path.ts';
import type { HostAnswer } from '../api/answer.ts';
import { TokenQuestions } from '../api/token-questions.ts';
import type { HostRepository, HostTokens, HostTokensOptions } from '../host.ts';

/** Tokens of people and of workflow jobs are 40 hex digits. */
const TOKEN = /^[0-9a-f]{40}$/;

const text = z.string().min(1).max(NAME_LENGTH_MAX);
const userSchema = z.object({ login: text });
const repositorySchema = z.object({
  default_branch: z.string().max(NAME_LENGTH_MAX).nullish(),
  permissions: z.object({ pull: z.boolean() }).nullish(),
});

export class GiteaTokens implements HostTokens {
  readonly #questions: TokenQuestions;

  constructor(options: HostTokensOptions) {
    const headersOf = (token: string) => ({ accept: 'application/json', authorization: `token ${token}` });
    this.#questions = new TokenQuestions({ ...options, headersOf });
  }

  isToken(sent: string): boolean {
    return TOKEN.test(sent);
  }

  actor(token: string): Promise<HostAnswer<string | null>> {
    return this.#questions.get('/user', token, (body) => userSchema.parse(body).login);
  }

  /** `permissions` are those of the user, and no answer names the scopes of the token: a guess would be a silent yes. */
  async repository(token: string, { owner, name }: RepositoryName): Promise<HostAnswer<HostRepository>> {
    // A URL resolves these as steps in the path, so the question would be a different one.
    if (name === '.' || name === '..') return { kind: 'missing' };
    const path = `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
    return this.#questions.get(path, token, (body) => {
      const { permissions, default_branch } = repositorySchema.parse(body);
      return { pull: permissions?.pull ?? false, push: false, defaultBranch: default_branch || null };
    });
  }
}
