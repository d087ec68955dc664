/** GitLab's REST API: who a token is, and what it may do with a project. https://docs.gitlab.com/api/rest/authentication/ */
import { z } from 'zod';
import { NAME_LENGTH_MAX } from '../../domain/limits.ts';
import type { RepositoryName } from '../../domain/repository-path.ts';
import type { HostAnswer } from '../api/answer.ts';
import { TokenQuestions } from '../api/token-questions.ts';
import type { HostRepository, HostTokens, HostTokensOptions } from '../host.ts';
import { nameOf, pathsOf } from './path.ts';

/**
 * Tokens of a person, a project or a group (`glpat-`), and of a CI job (`glcbt-`). An instance may put a prefix before
 * them.
 */
const TOKEN = /^(?:[\w-]{1,40}-)?(?:glpat|glcbt)-[A-Za-z0-9_.-]{1,1024}$/;
const isJob = (token: string): boolean => /^(?:[\w-]{1,40}-)?glcbt-/.test(token);

/** https://docs.gitlab.com/api/access_requests/#valid-access-levels */
const REPORTER = 20;
const DEVELOPER = 30;

const text = z.string().min(1).max(NAME_LENGTH_MAX);
const userSchema = z.object({ username: text });
const selfSchema = z.object({ scopes: z.array(z.string()) });
const level = z.object({ access_level: z.int() }).nullish();
const projectSchema = z.object({
  path_with_namespace: z.string(),
  visibility: z.enum(['public', 'internal', 'private']).optional(),
  default_branch: text.nullish(),
  permissions: z.object({ project_access: level, group_access: level }).nullish(),
});
const jobSchema = z.object({ user: userSchema.nullish(), web_url: z.string() });

export class GitLabTokens implements HostTokens {
  readonly #questions: TokenQuestions;

  constructor(options: HostTokensOptions) {
    this.#questions = new TokenQuestions({
      ...options,
      headersOf: (token) => ({
        accept: 'application/json',
        [isJob(token) ? 'job-token' : 'private-token']: token,
      }),
    });
  }

  isToken(sent: string): boolean {
    return TOKEN.test(sent);
  }

  actor(token: string): Promise<HostAnswer<string | null>> {
    if (!isJob(token)) return this.#questions.get('/user', token, (body) => userSchema.parse(body).username);
    return this.#questions.get('/job', token, (body) => jobSchema.parse(body).user?.username ?? null);
  }

  async repository(token: string, repository: RepositoryName): Promise<HostAnswer<HostRepository>> {
    if (isJob(token)) return this.#ofJob(token, repository);
    let answer: HostAnswer<HostRepository> = { kind: 'missing' };
    for (const path of pathsOf(repository)) {
      answer = await this.#ofPath(token, path);
      if (answer.kind !== 'missing') break;
    }
    return answer;
  }

  /** The token of a job reads its own project: what else it may do, the host does not say. */
  #ofJob(token: string, { owner, name }: RepositoryName): Promise<HostAnswer<HostRepository>> {
    const path = `/${owner}/${name}`.toLowerCase();
    return this.#questions.get('/job', token, (body) => {
      const page = jobSchema.parse(body).web_url.split('/-/')[0] ?? '';
      const parts = (URL.parse(page)?.pathname ?? '').split('/').filter((part) => part !== '');
      // GitLab may lie below a path.
      const isThis = parts.some((_, i) => {
        const found = nameOf(parts.slice(i).join('/'));
        return `/${found.owner}/${found.name}`.toLowerCase() === path;
      });
      return { pull: isThis, push: false, defaultBranch: null };
    });
  }

  async #ofPath(token: string, path: string): Promise<HostAnswer<HostRepository>> {
    const answer = await this.#questions.get(`/projects/${encodeURIComponent(path)}`, token, (body) =>
      projectSchema.parse(body),
    );
    if (answer.kind !== 'found') return answer;
    const { permissions, visibility, default_branch } = answer.value;
    const levels = [permissions?.project_access, permissions?.group_access].map((access) => access?.access_level ?? 0);
    const access = Math.max(...levels);
    const pull = access >= REPORTER || visibility === 'public' || visibility === 'internal';
    const found = { pull, push: false, defaultBranch: default_branch ?? null };
    if (access < DEVELOPER) return { kind: 'found', value: found };
    // The levels are those of the user. The token may do less, as its scopes say.
    const self = await this.#questions.get('/personal_access_tokens/self', token, (body) => selfSchema.parse(body));
    if (self.kind === 'unavailable') return self;
    return { kind: 'found', value: { ...found, push: self.kind === 'found' && self.value.scopes.includes('api') } };
  }
}
