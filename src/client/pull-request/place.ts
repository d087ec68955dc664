/** Where the repository of a CI job is at its host, and the token that may write there. */
import { BitbucketCloudRemote } from '../../hosts/bitbucket-cloud/remote.ts';
import { GiteaRemote } from '../../hosts/gitea/remote.ts';
import { GithubRemote } from '../../hosts/github/remote.ts';
import { GitlabRemote } from '../../hosts/gitlab/remote.ts';
import type { RemotePlace, RemoteRepository } from '../../hosts/remote.ts';
import { type ClientEnvironment, isWebAddress } from '../settings.ts';

/** The hosts that run jobs. Not all of what the service knows of a host: a job downloads this file. */
const REMOTES = {
  github: GithubRemote,
  gitlab: GitlabRemote,
  gitea: GiteaRemote,
  'bitbucket-cloud': BitbucketCloudRemote,
};
const BITBUCKET_API = 'https://api.bitbucket.org/2.0';

interface Place extends RemotePlace {
  kind: keyof typeof REMOTES;
}

/** The repository at its host, or a sentence for people that says what is missing. */
export function remoteOf(environment: ClientEnvironment): RemoteRepository | string {
  const place = placeOf(environment);
  return typeof place === 'string' ? place : new REMOTES[place.kind](place);
}

function placeOf(environment: ClientEnvironment): Place | string {
  const { variables } = environment;
  if (variables.CI_API_V4_URL) return onGitlab(environment, variables.CI_API_V4_URL);
  if (variables.BITBUCKET_REPO_FULL_NAME) return onBitbucket(environment, variables.BITBUCKET_REPO_FULL_NAME);
  if (variables.GITHUB_REPOSITORY?.includes('/')) return onGithub(environment, variables.GITHUB_REPOSITORY);
  return 'none of GITHUB_REPOSITORY, CI_API_V4_URL and BITBUCKET_REPO_FULL_NAME says where the commit is';
}

function onGitlab({ variables, commentToken }: ClientEnvironment, url: string): Place | string {
  const token = commentToken || variables.GITLAB_TOKEN;
  const own = variables.CI_PROJECT_ID;
  const path = variables.CI_MERGE_REQUEST_PROJECT_ID || own;
  if (!token) return 'CI_INSIGHTS_COMMENT_TOKEN or GITLAB_TOKEN is not set, as in jobs of forks';
  if (!path) return 'CI_MERGE_REQUEST_PROJECT_ID is not set';
  const apiUrl = addressOf(url);
  if (apiUrl === null) return 'CI_API_V4_URL is not an address';
  const pipeline = { project: own || path, id: variables.CI_PIPELINE_ID || undefined };
  return { kind: 'gitlab', apiUrl, token, path, pipeline };
}

/** Bitbucket Cloud: Pipelines give no token that may write. */
function onBitbucket({ commentToken: token }: ClientEnvironment, path: string): Place | string {
  if (!token) return 'CI_INSIGHTS_COMMENT_TOKEN is not set';
  return { kind: 'bitbucket-cloud', apiUrl: BITBUCKET_API, token, path };
}

/** Jobs of Gitea and Forgejo have the variables of GitHub's; the address of the API tells them apart. */
function onGithub({ variables, commentToken }: ClientEnvironment, path: string): Place | string {
  const token = commentToken || variables.GITHUB_TOKEN;
  if (!token) return 'CI_INSIGHTS_COMMENT_TOKEN or GITHUB_TOKEN is not set';
  const apiUrl = addressOf(variables.GITHUB_API_URL || 'https://api.github.com');
  if (apiUrl === null) return 'GITHUB_API_URL is not an address';
  return { kind: apiUrl.endsWith('/api/v1') ? 'gitea' : 'github', apiUrl, token, path };
}

const addressOf = (url: string): string | null => (isWebAddress(url) ? url.replace(/(?<!\/)\/+$/, '') : null);
