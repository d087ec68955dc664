/** A pull request as insights show it. */
import { z } from 'zod';
import type { PullRequest } from '../postgres/pull-requests.ts';

/** Shown as the author of a pull request whose account was deleted. */
const GHOST = { id: 10_137, login: 'ghost' };

export const userSchema = z.object({
  id: z.int().meta({ example: 583_231 }),
  login: z.string().meta({ example: 'octocat' }),
});
export const pullSchema = z
  .object({
    id: z.int().meta({ example: 1_234_567 }),
    number: z.int().meta({ example: 7 }),
    title: z.string().meta({ example: 'Round totals' }),
    user: userSchema,
  })
  .meta({ id: 'PullSummary' });

export const pullSummary = (pull: Pick<PullRequest, 'id' | 'number' | 'title' | 'authorId' | 'authorLogin'>) => ({
  id: pull.id,
  number: pull.number,
  title: pull.title,
  user: pull.authorId === null ? GHOST : { id: pull.authorId, login: pull.authorLogin ?? GHOST.login },
});
