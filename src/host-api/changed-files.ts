/**
 * The files that a pull request changes, as its host tells them: those of its newest commit, compared with where it left the
 * branch that it is for. https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files,
 * https://docs.gitlab.com/api/merge_requests/#list-merge-request-diffs
 */
import { z } from 'zod';
import { changedPathsOf } from '../domain/changed-paths.ts';
import { type GithubRepository, githubApi, githubPath } from './github-api.ts';
import { HostApi } from './host-api.ts';

const PER_PAGE = 100;
/** GitHub lists 3,000 files, which is as many as are stored. */
const PAGES_MAX = 30;

const githubFiles = z.array(z.object({ filename: z.string(), previous_filename: z.string().nullish() }));
const githubPull = z.object({ head: z.object({ sha: z.string() }) });
const gitlabFiles = z.array(z.object({ new_path: z.string(), old_path: z.string() }));
const gitlabPull = z.object({ sha: z.string() });

export interface PullToRead {
  number: number;
  /** The commit that is asked about. */
  commit: string;
}

/** Undefined if the pull request has another commit by now. Throws a HostError. */
export async function changedOnGithub(
  place: GithubRepository,
  { number, commit }: PullToRead,
): Promise<string[] | undefined> {
  const api = githubApi(place, 'The token may not read pull requests');
  const path = `${githubPath(place)}/pulls/${number}`;
  const files = await allPages(api, `${path}/files`, githubFiles);
  // After them: they are those of the newest commit.
  if ((await api.ask(path, githubPull)).head.sha !== commit) return undefined;
  return changedPathsOf(files.flatMap(({ filename, previous_filename: before }) => [filename, before ?? '']));
}

/** As {@link changedOnGithub}. */
export async function changedOnGitlab(
  { apiUrl, token, project }: { apiUrl: string; token: string; project: string },
  { number, commit }: PullToRead,
): Promise<string[] | undefined> {
  const api = new HostApi({ name: 'GitLab', url: apiUrl, token, hint: 'The token may not read merge requests' });
  const path = `/projects/${encodeURIComponent(project)}/merge_requests/${number}`;
  const files = await allPages(api, `${path}/diffs`, gitlabFiles);
  if ((await api.ask(path, gitlabPull)).sha !== commit) return undefined;
  return changedPathsOf(files.flatMap(({ new_path: path, old_path: before }) => [path, before]));
}

/** Those beyond the last page that is read are left out. */
async function allPages<T>(api: HostApi, path: string, schema: z.ZodType<T[]>): Promise<T[]> {
  const items: T[] = [];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const { body, hasNext } = await api.askPage(`${path}?per_page=${PER_PAGE}&page=${page}`, schema);
    items.push(...body);
    if (!hasNext) break;
  }
  return items;
}
