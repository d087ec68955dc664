/** A pull request as insights show it. */
import { z } from 'zod';
import type { PullRequest } from '../postgres/pull-requests.ts';

/** Shown as the author of a pull request whose account was deleted. */
const GHOST = { id: 10_137, login: 'ghost' };

const userSchema = z.object({
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

const UNTOLD = 'null if the host did not say';
/** The fields of a pull request that come from its repository host. */
export const toldFields = {
  number: z.int().meta({ example: 7 }),
  title: z
    .string()
    .nullable()
    .meta({ description: `Of the pull request; ${UNTOLD}`, example: 'Round totals' }),
  user: userSchema.nullable().meta({ description: `Its author; ${UNTOLD}` }),
  head_ref: z.string().nullable().meta({ description: 'Its own branch', example: 'feature/rounding' }),
  head_commit: z
    .string()
    .nullable()
    .meta({
      description: `Its newest commit, on which perhaps nothing ran yet; ${UNTOLD}`,
      example: '1111111111111111111111111111111111111111',
    }),
  merge_commit: z
    .string()
    .nullable()
    .meta({ description: `The commit that it was merged as; null before that, and ${UNTOLD}`, example: null }),
};

export const pullSummary = (pull: Pick<PullRequest, 'id' | 'number' | 'title' | 'authorId' | 'authorLogin'>) => ({
  id: pull.id,
  number: pull.number,
  title: pull.title,
  user: pull.authorId === null ? GHOST : { id: pull.authorId, login: pull.authorLogin ?? GHOST.login },
});
