/** `gate --comment`: one comment on the pull request of the job, which says what failed on its newest commit. */
import { commentText } from '../../domain/pull-comment.ts';
import { isThere, type Kept, keepComment } from '../../hosts/writes/keep-comment.ts';
import { markerKey } from '../../hosts/writes/marker.ts';
import type { Subject } from '../gate/consult.ts';
import { printError } from '../output.ts';
import type { Repository } from '../repository.ts';
import type { ClientEnvironment } from '../settings.ts';
import { commentBefore, commitState } from './commit-state.ts';
import { remoteOf } from './place.ts';

/**
 * Never throws: the result of the job does not depend on the comment. Returns sentences about why there is none, or not the
 * newest one.
 *
 * @param isPassed a job that crashed without a failed test does not say that all is clear
 */
export async function commentOn(
  { repository, target: { commit, branch, query }, isStored }: Subject,
  environment: ClientEnvironment,
  isPassed: boolean,
): Promise<string[]> {
  const pull = Number(query.pull_request);
  // Such as a job of the default branch.
  if (commit === undefined || !Number.isInteger(pull)) return [];
  const remote = remoteOf(environment);
  if (typeof remote === 'string') return [`There is no comment: ${remote}.`];
  const host = remote.comments(pull);
  if (!isStored) return ['The comment stays as it is: the reports are not stored yet.'];
  try {
    if ((await commitState(repository, commit))?.keptByService.includes('comment')) {
      printError(`The service keeps the comment on ${host.subject}.`);
      return [];
    }
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
      wasThere: async () => (await commentBefore(repository, commit, pull)).wasThere,
      firstResultAt: async () => (await commentBefore(repository, commit, pull)).firstResultAt,
    });
    const { notice, line } = SENTENCES[kept](host.subject);
    if (line !== undefined) printError(line);
    return [
      ...(notice === undefined ? [] : [notice]),
      ...(isThere(kept) ? await tellService(repository, pull, { commit_sha: commit, branch: branch ?? null }) : []),
    ];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [`The comment on ${host.subject} cannot be written: ${message}.`];
  }
}

/** Most hosts do not tell whether someone has deleted a comment, so the service knows where one was. */
async function tellService(
  repository: Repository,
  pull: number,
  commented: { commit_sha: string; branch: string | null },
): Promise<string[]> {
  try {
    await repository.sendCommented(pull, commented);
    return [];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [`The service does not know of the comment, so one that is deleted may come back: ${message}.`];
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
