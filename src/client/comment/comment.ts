/** `gate --comment`: one comment on the pull request of the job, which says what failed on its newest commit. */
import { commentText } from '../../domain/pull-comment.ts';
import type { Subject } from '../gate/consult.ts';
import { printError } from '../output.ts';
import { type ClientEnvironment, isWebAddress } from '../settings.ts';
import { commitState, firstResultAt } from './commit-state.ts';
import { Github } from './github.ts';
import { Gitlab } from './gitlab.ts';
import type { CommentHost } from './host.ts';
import { type Kept, keepComment } from './keep.ts';
import { markerKey } from './marker.ts';

/**
 * Never throws: the result of the job does not depend on the comment. Returns sentences about why there is none, or not the
 * newest one.
 *
 * @param isPassed a job that crashed without a failed test does not say that all is clear
 */
export async function commentOn(
  { repository, target: { commit, query }, isStored }: Subject,
  environment: ClientEnvironment,
  isPassed: boolean,
): Promise<string[]> {
  const pull = Number(query.pull_request);
  // Such as a job of the default branch.
  if (commit === undefined || !Number.isInteger(pull)) return [];
  const host = hostOf(environment, pull);
  if (typeof host === 'string') return [`There is no comment: ${host}.`];
  if (!isStored) return ['The comment stays as it is: the reports are not stored yet.'];
  try {
    const kept = await keepComment({
      host,
      commit,
      key: markerKey(repository),
      read: async () => {
        const state = await commitState(repository, commit);
        if (state === null || (state.total === 0 && !isPassed)) return null;
        const isWorthOne = state.failures.some(({ verdict }) => verdict !== 'quarantined');
        return { text: commentText(state), isWorthOne };
      },
      firstResultAt: () => firstResultAt(repository, commit, pull),
    });
    const { notice, line } = SENTENCES[kept](host.subject);
    if (line !== undefined) printError(line);
    return notice === undefined ? [] : [notice];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [`The comment on ${host.subject} cannot be written: ${message}.`];
  }
}

const SENTENCES: Readonly<Record<Kept, (subject: string) => { notice?: string; line?: string }>> = {
  written: (subject) => ({ line: `A comment on ${subject} says what failed.` }),
  updated: (subject) => ({ line: `The comment on ${subject} is up to date.` }),
  unchanged: (subject) => ({ line: `The comment on ${subject} is up to date.` }),
  nothing: () => ({}),
  edited: (subject) => ({ notice: `The comment on ${subject} stays as it is: someone has edited it.` }),
  deleted: (subject) => ({
    notice: `The comment on ${subject} is not written again for this commit: someone has deleted it.`,
  }),
  outdated: (subject) => ({ line: `The comment stays as it is: ${subject} has a newer commit than this job.` }),
};

/** The host of the pull request, or a sentence for people that says what is missing. */
function hostOf({ variables, commentToken }: ClientEnvironment, pull: number): CommentHost | string {
  if (variables.CI_API_V4_URL) {
    const token = commentToken || variables.GITLAB_TOKEN;
    const project = variables.CI_MERGE_REQUEST_PROJECT_ID || variables.CI_PROJECT_ID;
    if (!token) return 'CI_INSIGHTS_COMMENT_TOKEN or GITLAB_TOKEN is not set, as in jobs of forks';
    if (!project) return 'CI_MERGE_REQUEST_PROJECT_ID is not set';
    const apiUrl = addressOf(variables.CI_API_V4_URL);
    return apiUrl === null ? 'CI_API_V4_URL is not an address' : new Gitlab({ apiUrl, token, project, iid: pull });
  }
  const repository = variables.GITHUB_REPOSITORY;
  if (!repository?.includes('/'))
    return 'neither GITHUB_REPOSITORY nor CI_API_V4_URL says where the pull request is (GitHub and GitLab have comments)';
  const token = commentToken || variables.GITHUB_TOKEN;
  if (!token) return 'CI_INSIGHTS_COMMENT_TOKEN or GITHUB_TOKEN is not set';
  const apiUrl = addressOf(variables.GITHUB_API_URL || 'https://api.github.com');
  const graphqlUrl = addressOf(variables.GITHUB_GRAPHQL_URL || `${apiUrl?.replace(/\/v3$/, '')}/graphql`);
  if (apiUrl === null || graphqlUrl === null) return 'GITHUB_API_URL or GITHUB_GRAPHQL_URL is not an address';
  return new Github({ apiUrl, graphqlUrl, token, repository, number: pull });
}

const addressOf = (url: string): string | null => (isWebAddress(url) ? url.replace(/(?<!\/)\/+$/, '') : null);
