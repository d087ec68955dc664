/** Where the repository of a CI job is at its host, and the token that may write there. */
import type { GithubRepository } from '../../host-api/github-api.ts';
import { type ClientEnvironment, isWebAddress } from '../settings.ts';

interface GitlabProject {
  /** Address of the REST API, without a trailing slash. */
  apiUrl: string;
  token: string;
  /** Number or path of the project that the merge request is for. */
  project: string;
  /** Of the project that runs the pipeline: that of a fork may be another one. */
  pipelineProject: string;
  pipelineId: string | undefined;
}

export type Place = (GithubRepository & { kind: 'github' }) | (GitlabProject & { kind: 'gitlab' });

/** A place, or a sentence for people that says what is missing. */
export function placeOf({ variables, commentToken }: ClientEnvironment): Place | string {
  if (variables.CI_API_V4_URL) {
    const token = commentToken || variables.GITLAB_TOKEN;
    const pipelineProject = variables.CI_PROJECT_ID;
    const project = variables.CI_MERGE_REQUEST_PROJECT_ID || pipelineProject;
    if (!token) return 'CI_INSIGHTS_COMMENT_TOKEN or GITLAB_TOKEN is not set, as in jobs of forks';
    if (!project) return 'CI_MERGE_REQUEST_PROJECT_ID is not set';
    const apiUrl = addressOf(variables.CI_API_V4_URL);
    if (apiUrl === null) return 'CI_API_V4_URL is not an address';
    const pipelineId = variables.CI_PIPELINE_ID || undefined;
    return { kind: 'gitlab', apiUrl, token, project, pipelineProject: pipelineProject || project, pipelineId };
  }
  const repository = variables.GITHUB_REPOSITORY;
  if (!repository?.includes('/'))
    return 'neither GITHUB_REPOSITORY nor CI_API_V4_URL says where the commit is (GitHub and GitLab can be told)';
  const token = commentToken || variables.GITHUB_TOKEN;
  if (!token) return 'CI_INSIGHTS_COMMENT_TOKEN or GITHUB_TOKEN is not set';
  const apiUrl = addressOf(variables.GITHUB_API_URL || 'https://api.github.com');
  const graphqlUrl = addressOf(variables.GITHUB_GRAPHQL_URL || `${apiUrl?.replace(/\/v3$/, '')}/graphql`);
  if (apiUrl === null || graphqlUrl === null) return 'GITHUB_API_URL or GITHUB_GRAPHQL_URL is not an address';
  return { kind: 'github', apiUrl, graphqlUrl, token, repository };
}

const addressOf = (url: string): string | null => (isWebAddress(url) ? url.replace(/(?<!\/)\/+$/, '') : null);
