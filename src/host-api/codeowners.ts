/**
 * The CODEOWNERS of a repository, read from its default branch: https://docs.github.com/en/rest/repos/contents,
 * https://docs.gitlab.com/api/repository_files/
 */
import { z } from 'zod';
import { CODEOWNERS_PLACES } from '../domain/codeowners-pattern.ts';
import { CODEOWNERS_BYTES_MAX } from '../domain/limits.ts';
import { type GithubRepository, githubApi, githubPath } from './github-api.ts';
import { HostApi } from './host-api.ts';
import { HostError } from './host-error.ts';

export interface HostCodeowners {
  /** From the root of the repository. */
  path: string;
  content: string;
}

/** A folder, a link or a file that is too large for an answer has another shape. */
const fileSchema = z
  .object({ encoding: z.literal('base64'), content: z.string() })
  .or(z.unknown().transform(() => null));

/** Undefined if there is none that can be read. Throws a HostError. */
export function codeownersOnGithub(place: GithubRepository): Promise<HostCodeowners | undefined> {
  const api = githubApi(place, 'The token may not read contents');
  return firstOf(api, CODEOWNERS_PLACES.github, (path) => `${githubPath(place)}/contents/${path}`);
}

/** As {@link codeownersOnGithub}. */
export function codeownersOnGitlab({
  apiUrl,
  token,
  project,
}: {
  apiUrl: string;
  token: string;
  project: string;
}): Promise<HostCodeowners | undefined> {
  const api = new HostApi({ name: 'GitLab', url: apiUrl, token, hint: 'The token may not read the repository' });
  const files = `/projects/${encodeURIComponent(project)}/repository/files`;
  return firstOf(api, CODEOWNERS_PLACES.gitlab, (path) => `${files}/${encodeURIComponent(path)}?ref=HEAD`);
}

/** The first place that holds a file counts, even if it cannot be read. */
async function firstOf(
  api: HostApi,
  places: readonly string[],
  addressOf: (path: string) => string,
): Promise<HostCodeowners | undefined> {
  for (const path of places) {
    try {
      const file = await api.ask(addressOf(path), fileSchema);
      const content = file && Buffer.from(file.content, 'base64').toString('utf8');
      return content && Buffer.byteLength(content) <= CODEOWNERS_BYTES_MAX ? { path, content } : undefined;
    } catch (error) {
      if (!(error instanceof HostError && error.status === 404)) throw error;
    }
  }
  return undefined;
}
