/** Finds the CODEOWNERS of a repository at its host. */

import { z } from 'zod';
import { CODEOWNERS_BYTES_MAX } from '../../domain/limits.ts';
import type { HostCodeowners } from '../remote.ts';
import { HostError } from './host-error.ts';

/** A file as GitHub, GitLab and Gitea show it. A folder, a link or a file that is too large has another shape. */
export const base64File = z
  .object({ encoding: z.literal('base64'), content: z.string() })
  .transform(({ content }) => Buffer.from(content, 'base64').toString('utf8'))
  .or(z.unknown().transform(() => null));

/**
 * The first place that holds a file counts, even if it cannot be read.
 *
 * @param read the text at a path, or null if it is none; throws a HostError with 404 if there is no file
 */
export async function firstCodeowners(
  places: readonly string[],
  read: (path: string) => Promise<string | null>,
): Promise<HostCodeowners | undefined> {
  for (const path of places) {
    try {
      const content = await read(path);
      return content && Buffer.byteLength(content) <= CODEOWNERS_BYTES_MAX ? { path, content } : undefined;
    } catch (error) {
      if (!(error instanceof HostError && error.status === 404)) throw error;
    }
  }
  return undefined;
}

/** Where Bitbucket looks for the file, and where teams that bring it from another host have it. */
export const BITBUCKET_CODEOWNERS = ['.bitbucket/CODEOWNERS', 'CODEOWNERS', 'docs/CODEOWNERS'];
