/** The files that a change touches: as a list names them, or as git finds them; and how `push` sends them. */
import { changedPathsOf } from '../domain/changed-paths.ts';
import { changedSince, mergeBaseWith } from './git.ts';
import { printError } from './output.ts';
import { readInput } from './read-input.ts';
import { Repository } from './repository.ts';
import { type Connection, Service } from './service.ts';

/** The value of `--changed-files` that asks git for the comparison with the base. */
export const FROM_GIT = 'git';

/** The job waits for it. */
const SEND_MS_MAX = 15_000;

/** One path a line; `-` is the standard input. Throws a UserError if there is no list. */
export const listedFiles = (file: string): string[] => changedPathsOf(readInput(file).split(/\r?\n/));

/** Undefined where git does not say, as in a shallow clone. */
export async function changedFromGit(base: string): Promise<string[] | undefined> {
  const found = await changedSince(base);
  return found && changedPathsOf(found);
}

/** The commit that a job tested, and the branch that its pull request is for. */
interface Tested {
  commit: string | undefined;
  branch: string | undefined;
  baseBranch: string | undefined;
}

/**
 * The files that the flag names. A list that is not there is a mistake; git that does not say is no more than a pity.
 * Throws a UserError.
 *
 * @param flag undefined: none are to be sent
 */
export async function changedFilesToSend(flag: string | undefined, { baseBranch }: Tested): Promise<string[]> {
  if (flag === undefined) return [];
  if (flag !== FROM_GIT) return listedFiles(flag);
  const base = baseBranch === undefined ? undefined : await mergeBaseWith(baseBranch);
  const found = base === undefined ? undefined : await changedFromGit(base);
  if (!found)
    printError(
      baseBranch === undefined
        ? 'Changed files were not sent: this is not a job of a pull request. Pass --base-branch, or the paths in a file.'
        : `Changed files were not sent: git does not know where ${baseBranch} and this commit meet. Check out the whole history, or pass the paths in a file.`,
    );
  return found ?? [];
}

/** Never fails a job. */
export async function sendChangedFiles(
  connection: Connection,
  { owner, name }: { owner: string; name: string },
  { commit, branch, paths }: Tested & { paths: readonly string[] },
): Promise<void> {
  if (paths.length === 0) return;
  try {
    if (commit === undefined) throw new Error('no commit is known: pass --commit');
    const repository = new Repository(new Service(connection, { totalMs: SEND_MS_MAX }), owner, name);
    await repository.sendChangedFiles(commit, { paths, branch: branch ?? null });
  } catch (error) {
    printError(`Changed files were not sent: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
