/** The REST API of Bitbucket Cloud: what an access token may do. https://developer.atlassian.com/cloud/bitbucket/rest/intro/ */
import { z } from 'zod';
import { NAME_LENGTH_MAX } from '../../domain/limits.ts';
import type { RepositoryName } from '../../domain/repository-path.ts';
import type { HostAnswer } from '../api/answer.ts';
import { TokenQuestions } from '../api/token-questions.ts';
import type { HostRepository, HostTokens, HostTokensOptions } from '../host.ts';

/** Access tokens of a repository, a project or a workspace. API tokens of people need a mail address, which is not sent. */
const TOKEN = /^ATCTT[A-Za-z0-9_=-]{1,1024}$/;

const repositorySchema = z.object({
  mainbranch: z.object({ name: z.string().min(1).max(NAME_LENGTH_MAX) }).nullish(),
});

export class BitbucketCloudTokens implements HostTokens {
  readonly #questions: TokenQuestions;

  constructor(options: HostTokensOptions) {
    const headersOf = (token: string) => ({ accept: 'application/json', authorization: `Bearer ${token}` });
    this.#questions = new TokenQuestions({ ...options, headersOf });
  }

  isToken(sent: string): boolean {
    return TOKEN.test(sent);
  }

  /** Such a token belongs to no person. Whether it is known shows with the repository. */
  async actor(): Promise<HostAnswer<string | null>> {
    return { kind: 'found', value: 'access-token' };
  }

  async repository(token: string, { owner, name }: RepositoryName): Promise<HostAnswer<HostRepository>> {
    // A URL resolves these as steps in the path, so the question would be a different one.
    if (name === '.' || name === '..') return { kind: 'missing' };
    const path = `/repositories/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`;
    return this.#questions.get(path, token, (body, headers) => {
      const scopes = (headers.get('x-oauth-scopes') ?? '').split(',').map((scope) => scope.trim());
      const push = scopes.includes('repository:write') || scopes.includes('repository:admin');
      return { pull: true, push, defaultBranch: repositorySchema.parse(body).mainbranch?.name ?? null };
    });
  }
}
