/** The REST API of Bitbucket Data Center: https://developer.atlassian.com/server/bitbucket/rest/ */
import { z } from 'zod';
import { NAME_LENGTH_MAX } from '../../domain/limits.ts';
import type { RepositoryName } from '../../domain/repository-path.ts';
import type { HostAnswer } from '../api/answer.ts';
import { TokenQuestions } from '../api/token-questions.ts';
import type { HostRepository, HostTokens, HostTokensOptions } from '../host.ts';

/** HTTP access tokens of people, projects and repositories. */
const TOKEN = /^BBDC-[A-Za-z0-9+/=_-]{1,1024}$/;

const branchSchema = z.object({ displayId: z.string().min(1).max(NAME_LENGTH_MAX) });
const repositoriesSchema = z.object({
  values: z.array(z.object({ slug: z.string(), project: z.object({ key: z.string() }) })),
});

export class BitbucketDataCenterTokens implements HostTokens {
  readonly #questions: TokenQuestions;

  constructor(options: HostTokensOptions) {
    const headersOf = (token: string) => ({ accept: 'application/json', authorization: `Bearer ${token}` });
    this.#questions = new TokenQuestions({ ...options, headersOf });
  }

  isToken(sent: string): boolean {
    return TOKEN.test(sent);
  }

  /** Every answer names the user in a header; a token of a project or a repository has a user for itself. */
  actor(token: string): Promise<HostAnswer<string | null>> {
    return this.#questions.get('/application-properties', token, (_, headers) => {
      const name = headers.get('x-ausername');
      return name && name.length <= NAME_LENGTH_MAX ? name : null;
    });
  }

  async repository(token: string, repository: RepositoryName): Promise<HostAnswer<HostRepository>> {
    const { owner, name } = repository;
    // A URL resolves these as steps in the path, so the question would be a different one.
    if (name === '.' || name === '..') return { kind: 'missing' };
    const path = `/projects/${encodeURIComponent(owner)}/repos/${encodeURIComponent(name)}`;
    const found = await this.#questions.get(path, token, () => undefined);
    if (found.kind !== 'found') return found;
    // It is missing in an empty repository.
    const branch = await this.#questions.get(
      `${path}/default-branch`,
      token,
      (body) => branchSchema.parse(body).displayId,
    );
    if (branch.kind === 'unavailable') return branch;
    const push = await this.#mayWrite(token, repository);
    if (push.kind === 'unavailable') return push;
    const defaultBranch = branch.kind === 'found' ? branch.value : null;
    return { kind: 'found', value: { pull: true, push: push.kind === 'found' && push.value, defaultBranch } };
  }

  /** A repository does not say what a token may do with it; the list of those to which it may write does. */
  #mayWrite(token: string, { owner, name }: RepositoryName): Promise<HostAnswer<boolean>> {
    const query = new URLSearchParams({ projectkey: owner, name, permission: 'REPO_WRITE', limit: '100' });
    const isThis = (slug: string, key: string): boolean =>
      slug.toLowerCase() === name.toLowerCase() && key.toLowerCase() === owner.toLowerCase();
    return this.#questions.get(`/repos?${query}`, token, (body) =>
      repositoriesSchema.parse(body).values.some(({ slug, project }) => isThis(slug, project.key)),
    );
  }
}
