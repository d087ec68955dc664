/** What git says of the working copy. Where it says nothing, as in a shallow clone, the answer is undefined. */

const GIT_MS_MAX = 10_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

async function git(...args: string[]): Promise<string | undefined> {
  // Most jobs have nothing to ask.
  const [{ execFile }, { promisify }] = await Promise.all([import('node:child_process'), import('node:util')]);
  try {
    const options = { timeout: GIT_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX };
    return (await promisify(execFile)('git', args, options)).stdout;
  } catch {
    return undefined;
  }
}

/** The newest commit that the one that is checked out has in common with a branch of the remote, else of the working copy. */
export async function mergeBaseWith(branch: string): Promise<string | undefined> {
  for (const name of [`refs/remotes/origin/${branch}`, `refs/heads/${branch}`]) {
    const commit = (await git('merge-base', 'HEAD', name))?.trim();
    if (commit && /^[0-9a-f]{40,64}$/.test(commit)) return commit;
  }
  return undefined;
}

/** Paths of the files that differ between a commit and what is checked out, from the root of the repository. */
export async function changedSince(commit: string): Promise<string[] | undefined> {
  const listed = await git('diff', '--name-only', '--no-renames', '-z', commit, 'HEAD');
  return listed?.split('\0').filter((path) => path !== '');
}

/** The commit that is checked out, and whether the files that git knows are as in it. */
export async function checkedOut(): Promise<{ commit: string; isChanged: boolean } | undefined> {
  const commit = (await git('rev-parse', 'HEAD'))?.trim();
  const changed = await git('status', '--porcelain', '--untracked-files=no');
  return commit && changed !== undefined ? { commit, isChanged: changed !== '' } : undefined;
}
