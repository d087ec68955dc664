/** The commit and branch of a working copy, read from its files: `git` may be missing where tests run. */
import { readFileSync } from 'node:fs';

export interface Checkout {
  /** Undefined for a commit that is checked out without a branch. */
  branch: string | undefined;
  /** Undefined for a branch: which commit it is at does not matter to who asks. */
  commit: string | undefined;
}

/** Undefined where there is no working copy, or none that can be read. */
export function readCheckout(folder: string | undefined): Checkout | undefined {
  if (!folder) return undefined;
  try {
    const head = readFileSync(`${folder}/.git/HEAD`, 'utf8').trim();
    const branch = /^ref: refs\/heads\/(.+)$/.exec(head)?.[1];
    const commit = /^[0-9a-f]{40,64}$/.exec(head)?.[0];
    return branch === undefined && commit === undefined ? undefined : { branch, commit };
  } catch {
    return undefined;
  }
}
