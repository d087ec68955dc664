/**
 * How a repository is addressed: one rule for owners and names, in paths, queue jobs, webhooks and on the command line.
 */
import { z } from 'zod';

export interface RepositoryName {
  owner: string;
  name: string;
}

export const OWNER_LENGTH_MAX = 40;
/** GitHub allows 100. GitLab subgroups become part of the name, and 255 leaves room for them. */
export const REPOSITORY_NAME_LENGTH_MAX = 255;

export const ownerSchema = z
  .string()
  .min(1, { error: 'is empty' })
  .max(OWNER_LENGTH_MAX, { error: `is longer than ${OWNER_LENGTH_MAX} characters` })
  .regex(/^[a-zA-Z0-9-]+$/, { error: 'may hold letters, digits and - only' });

export const repositoryNameSchema = z
  .string()
  .min(1, { error: 'is empty' })
  .max(REPOSITORY_NAME_LENGTH_MAX, { error: `is longer than ${REPOSITORY_NAME_LENGTH_MAX} characters` })
  .regex(/^[\w.-]+$/, { error: 'may hold letters, digits, _, - and . only' });
