/** Where a job may write: which host it is on, by the variables that its CI sets, or what is missing. */
import { expect, test } from 'bun:test';
import { remoteOf } from '../../src/client/pull-request/place.ts';
import { readClientEnvironment } from '../../src/client/settings.ts';
import { BitbucketCloudRemote } from '../../src/hosts/bitbucket-cloud/remote.ts';
import { GiteaRemote } from '../../src/hosts/gitea/remote.ts';
import { GithubRemote } from '../../src/hosts/github/remote.ts';
import { GitlabRemote } from '../../src/hosts/gitlab/remote.ts';

const placed = (variables: Record<string, string>) => remoteOf(readClientEnvironment(variables));
const GITHUB = { GITHUB_REPOSITORY: 'acme/shop', GITHUB_TOKEN: 'token' };
const GITEA = { ...GITHUB, GITHUB_API_URL: 'https://git.acme.example/api/v1/' };
const GITLAB = { CI_API_V4_URL: 'https://gitlab.com/api/v4', CI_PROJECT_ID: '7', GITLAB_TOKEN: 'token' };
const BITBUCKET = { BITBUCKET_REPO_FULL_NAME: 'acme/shop', CI_INSIGHTS_COMMENT_TOKEN: 'token' };

test.each([
  [GITHUB, GithubRemote],
  [{ ...GITHUB, GITHUB_API_URL: 'https://git.acme.example/api/v3' }, GithubRemote],
  [GITEA, GiteaRemote],
  [GITLAB, GitlabRemote],
  [BITBUCKET, BitbucketCloudRemote],
])('%j is a repository there', (variables, kind) => {
  expect(placed(variables)).toBeInstanceOf(kind);
});

test.each([
  [{}, 'none of GITHUB_REPOSITORY, CI_API_V4_URL and BITBUCKET_REPO_FULL_NAME'],
  [{ ...GITHUB, GITHUB_TOKEN: '' }, 'GITHUB_TOKEN is not set'],
  [{ ...GITEA, GITHUB_API_URL: 'nowhere' }, 'GITHUB_API_URL is not an address'],
  [{ ...GITLAB, GITLAB_TOKEN: '' }, 'GITLAB_TOKEN is not set'],
  [{ ...GITLAB, CI_PROJECT_ID: '' }, 'CI_MERGE_REQUEST_PROJECT_ID is not set'],
  [{ ...GITLAB, CI_API_V4_URL: 'nowhere' }, 'CI_API_V4_URL is not an address'],
  [{ ...BITBUCKET, CI_INSIGHTS_COMMENT_TOKEN: '' }, 'CI_INSIGHTS_COMMENT_TOKEN is not set'],
])('of %j, what is missing is said', (variables: Record<string, string>, missing) => {
  expect(placed(variables)).toEqual(expect.stringContaining(missing));
});
