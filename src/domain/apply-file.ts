/**
 * The schema of a file for `ci-insights apply`: the keys and repositories that there are to be. docs/apply.md describes it.
 * The names are those of the API.
 */
import { z } from 'zod';
import { shortBranch } from './default-branch.ts';
import { KEY_SCOPES, type KeyScope } from './key-scope.ts';
import { ARRAY_LENGTH_MAX, NAME_LENGTH_MAX } from './limits.ts';
import { KEY_BRANCHES_MAX, unboundable } from './report-bounds.ts';
import { ownerSchema, type RepositoryName, repositoryNameSchema } from './repository-path.ts';
import { declaredSettingsShape, type SettingsChange } from './repository-settings.ts';
import { textProblem } from './text.ts';

const KEYS_MAX = 1_000;
const REPOSITORIES_MAX = 10_000;
/** The longest name that a host may have. */
const HOST_LENGTH_MAX = 253;

const name = z.string({ error: 'must be text' }).superRefine((value, context) => {
  const problem = textProblem(value, 1, NAME_LENGTH_MAX);
  if (problem) context.addIssue({ code: 'custom', message: problem.reason });
});

/** A token is as long as those that `keys create` makes, or longer: shorter ones could be guessed. */
export const TOKEN_PATTERN = /^cii_[A-Za-z0-9_-]{43,200}$/;

const keySchema = z
  .strictObject({
    scope: z.enum(KEY_SCOPES, { error: `must be one of ${KEY_SCOPES.join(', ')}` }),
    owner: ownerSchema.optional(),
    every_owner: z.literal(true, { error: 'can only be true' }).optional(),
    repositories: z.array(repositoryNameSchema).min(1).max(ARRAY_LENGTH_MAX).optional(),
    pull_requests_only: z.boolean({ error: 'must be true or false' }).optional(),
    branches: z.array(name).min(1).max(KEY_BRANCHES_MAX).optional(),
    expires_at: z
      .union([z.iso.date(), z.iso.datetime({ offset: true })], {
        error: 'must be a date such as 2027-12-31, or a moment such as 2027-12-31T12:00:00Z',
      })
      .optional(),
    token_file: z.string().min(1).optional(),
    token_env: z.string().min(1).optional(),
    token_sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, { error: 'must be 64 hexadecimal digits in lower case, as sha256sum prints them' })
      .optional(),
  })
  .superRefine((key, context) => {
    const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message });
    if ((key.owner === undefined) === (key.every_owner === undefined))
      context.addIssue({ code: 'custom', message: 'needs either owner, or every_owner: true' });
    if (key.every_owner && key.repositories) refuse('repositories', 'are those of one owner: name the owner');
    const wrong = unboundable(key.scope, key.pull_requests_only ?? false, key.branches ?? null);
    if (wrong) refuse(wrong.field, wrong.msg);
  })
  .transform((key, context): { rights: KeyRights; token: TokenSource } => {
    const sources = sourcesOf(key);
    const [token] = sources;
    if (!token || sources.length > 1) {
      context.addIssue({ code: 'custom', message: 'needs one of token_file, token_env and token_sha256' });
      return z.NEVER;
    }
    const rights = {
      scope: key.scope,
      owner: key.owner ?? null,
      repositories: key.repositories ?? null,
      pullRequestsOnly: key.pull_requests_only ?? false,
      branches: key.branches?.map(shortBranch) ?? null,
      expiresAt: key.expires_at === undefined ? null : Date.parse(key.expires_at),
    };
    return { rights, token };
  });

interface TokenFields {
  token_file?: string | undefined;
  token_env?: string | undefined;
  token_sha256?: string | undefined;
}

const sourcesOf = ({ token_file: file, token_env: variable, token_sha256: sha256 }: TokenFields): TokenSource[] => [
  ...(file === undefined ? [] : [{ file }]),
  ...(variable === undefined ? [] : [{ variable }]),
  ...(sha256 === undefined ? [] : [{ sha256 }]),
];

/** The rights of a key. */
export interface KeyRights {
  scope: KeyScope;
  /** Null: every owner. */
  owner: string | null;
  /** Null: all of the owner. */
  repositories: readonly string[] | null;
  pullRequestsOnly: boolean;
  /** Null: reports may be of any branch. */
  branches: readonly string[] | null;
  /** Milliseconds since the epoch; null: never. */
  expiresAt: number | null;
}

/** Where the token of a key is: in a file, in a variable of the environment, or only its SHA-256 in hexadecimal digits. */
export type TokenSource = { file: string } | { variable: string } | { sha256: string };

const path = z.string().superRefine((value, context) => {
  const [owner, repository, ...rest] = value.split('/');
  const isPath = ownerSchema.safeParse(owner).success && repositoryNameSchema.safeParse(repository).success;
  if (!isPath || rest.length > 0)
    context.addIssue({ code: 'custom', message: 'is no path of a repository: write owner/name, such as acme/shop' });
});

const host = z
  .string()
  .max(HOST_LENGTH_MAX)
  .regex(/^[a-z0-9.-]+(?::\d+)?$/, { error: 'must be the name of a host in lower case, such as github.com' });

/** A repository of which nothing is said is only to be there. */
const repositorySchema = z
  .strictObject({ ...declaredSettingsShape, host: host.optional() })
  .nullable()
  .transform((declared): { host: string | undefined; settings: SettingsChange } => {
    const { host: on, ...settings } = declared ?? {};
    return { host: on, settings };
  });

/** A section that is there and empty names nothing. */
export const applyFileSchema = z
  .strictObject({
    keys: z
      .record(name, keySchema)
      .refine((keys) => Object.keys(keys).length <= KEYS_MAX, { error: `holds more than ${KEYS_MAX} keys` })
      .nullish(),
    repositories: z
      .record(path, repositorySchema)
      .superRefine((declared, context) => {
        const paths = Object.keys(declared);
        if (paths.length > REPOSITORIES_MAX)
          context.addIssue({ code: 'custom', message: `holds more than ${REPOSITORIES_MAX} repositories` });
        const seen = new Set<string>();
        for (const one of paths) {
          if (seen.has(one.toLowerCase()))
            context.addIssue({
              code: 'custom',
              path: [one],
              message: 'is there twice: paths are compared without case',
            });
          seen.add(one.toLowerCase());
        }
      })
      .nullish(),
  })
  .transform(
    ({ keys, repositories }): ApplyFile => ({
      keys:
        keys === undefined
          ? undefined
          : Object.entries(keys ?? {}).map(([keyName, key]) => ({ name: keyName, ...key })),
      repositories: Object.entries(repositories ?? {}).map(([at, repository]) => {
        const [owner = '', repositoryName = ''] = at.split('/');
        return { path: { owner, name: repositoryName }, ...repository };
      }),
    }),
  );

export interface ApplyFile {
  /** Undefined: the file says nothing about keys. */
  keys: readonly { name: string; rights: KeyRights; token: TokenSource }[] | undefined;
  repositories: readonly DeclaredRepository[];
}

export interface DeclaredRepository {
  path: RepositoryName;
  /** Undefined: the usual one. It counts when the repository is added. */
  host: string | undefined;
  settings: SettingsChange;
}
