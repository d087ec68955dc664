/** `ci-insights keys …`: application keys. It needs PostgreSQL only, so it works while the service runs. */
import { Command, Option } from 'commander';
import { formatTable, formatTime, print, printJson } from '../client/output.ts';
import { collectRepositoryName, collectText, parseExpiry, parseOwner } from '../client/parse.ts';
import { systemClock } from '../clock.ts';
import { KEY_SCOPES, type KeyScope } from '../domain/key-scope.ts';
import { boundsOfKey, unboundable } from '../domain/report-bounds.ts';
import { UserError } from '../errors.ts';
import type { ApplicationKey, KeyStore } from '../postgres/keys.ts';
import { operatorOf } from './operator.ts';
import { withPostgres } from './stores.ts';

interface CreateOptions {
  owner?: string;
  everyOwner?: boolean;
  scope: KeyScope;
  name?: string;
  repository?: string[];
  pullRequestsOnly?: boolean;
  branch?: string[];
  expires?: Date;
  json?: boolean;
}

export const keysCommand = (): Command =>
  new Command('keys')
    .description('create, list and revoke application keys')
    .addCommand(create())
    .addCommand(list())
    .addCommand(revoke());

const create = (): Command =>
  new Command('create')
    .description('create a key and print its token, once')
    .option('--owner <owner>', 'the owner whose repositories the key is for', parseOwner)
    .option('--every-owner', "for every owner's repositories, and for the queues that they share")
    .addOption(
      new Option(
        '--scope <scope>',
        'view: read everything; upload: upload and read; ci: also quarantine and release; admin: everything',
      )
        .choices(KEY_SCOPES)
        .makeOptionMandatory(),
    )
    .option('--name <name>', 'what it is for, shown in lists; default: its scope')
    .option('--repository <name>', 'limit the key to this repository of the owner (repeatable)', collectRepositoryName)
    .option('--pull-requests-only', "what it sends is never the default branch's (scope upload)")
    .option('--branch <pattern>', 'its reports must be of such a branch (repeatable; scope upload)', collectText)
    .option(
      '--expires <when>',
      'when it expires: a time from now (12h, 90d, 4w, 1y) or a date; default: never',
      (value) => parseExpiry(value),
    )
    .option('--json', 'print JSON')
    .action(async (options: CreateOptions) => {
      if ((options.owner === undefined) !== (options.everyOwner ?? false))
        throw new UserError('Pass either --owner <owner> or --every-owner.');
      if (options.everyOwner && options.repository)
        throw new UserError('--repository names a repository of one owner: pass --owner instead of --every-owner.');
      const wrong = unboundable(options.scope, options.pullRequestsOnly ?? false, options.branch ?? null);
      if (wrong) throw new UserError(`--${wrong.field === 'scope' ? 'scope' : 'branch'} ${wrong.msg}.`);
      const made = await withKeys((keys) =>
        keys.create(
          {
            name: options.name ?? options.scope,
            owner: options.owner ?? null,
            scope: options.scope,
            repositories: options.repository ?? null,
            bounds: boundsOfKey(options.pullRequestsOnly ?? false, options.branch),
            expiresAt: options.expires ?? null,
          },
          operatorOf('keys create'),
        ),
      );
      if (options.json) return printJson({ ...toJson(made.key), token: made.token });
      print(made.token);
      print(`The token is shown only this once. Key ${made.key.id}: ${describe(made.key)}.`);
    });

const list = (): Command =>
  new Command('list')
    .description('list all keys, without their tokens')
    .option('--ci', 'also those of CI jobs, made for identity tokens')
    .option('--json', 'print JSON')
    .action(async ({ ci, json }: { ci?: boolean; json?: boolean }) => {
      const keys = await withKeys((store) => store.list({ withCi: ci === true }));
      if (json) return printJson(keys.map(toJson));
      if (keys.length === 0) return print('There are no keys.');
      print(
        formatTable(
          ['ID', 'NAME', 'OWNER', 'REPOSITORIES', 'SCOPE', 'STATE', 'EXPIRES', 'LAST USED'],
          keys.map((key) => [
            key.id,
            key.name,
            key.owner ?? '(every)',
            key.repositories?.join(', ') ?? '(all)',
            key.scope + boundsIn(key),
            stateOf(key),
            formatTime(key.expiresAt),
            formatTime(key.lastUsedAt),
          ]),
        ),
      );
    });

const revoke = (): Command =>
  new Command('revoke')
    .description('revoke a key; it stops working within seconds')
    .argument('<id>', 'its id, as shown by `keys list`')
    .action(async (id: string) => {
      const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id);
      if (!isUuid || !(await withKeys((keys) => keys.revoke(id, operatorOf('keys revoke')))))
        throw new UserError(`There is no key ${id} to revoke. \`ci-insights keys list\` shows all keys.`);
      print(`Key ${id} is revoked.`);
    });

const withKeys = <T>(run: (keys: KeyStore) => Promise<T>): Promise<T> => withPostgres(({ keys }) => run(keys));

type State = 'active' | 'revoked' | 'expired';

const stateOf = (key: ApplicationKey): State =>
  key.revokedAt ? 'revoked' : key.expiresAt && key.expiresAt.getTime() <= systemClock.now() ? 'expired' : 'active';

const describe = (key: ApplicationKey): string =>
  `scope ${key.scope}${boundsIn(key)}, for ${repositoriesOf(key)}, ${key.expiresAt ? `expires ${formatTime(key.expiresAt)}` : 'never expires'}`;

const boundsIn = ({ bounds }: ApplicationKey): string =>
  bounds?.pull_requests_only
    ? ' (pull requests only)'
    : bounds?.branches
      ? ` (branches ${bounds.branches.join(', ')})`
      : '';

function repositoriesOf({ owner, repositories }: ApplicationKey): string {
  if (owner === null) return "every owner's repositories";
  return repositories ? repositories.map((name) => `${owner}/${name}`).join(', ') : `all repositories of ${owner}`;
}

const toJson = (key: ApplicationKey) => ({
  id: key.id,
  name: key.name,
  owner: key.owner,
  repositories: key.repositories,
  scope: key.scope,
  pull_requests_only: key.bounds?.pull_requests_only ?? false,
  branches: key.bounds?.branches ?? null,
  ci_subject: key.ciSubject,
  state: stateOf(key),
  created_at: key.createdAt,
  made_by: key.madeBy,
  expires_at: key.expiresAt,
  last_used_at: key.lastUsedAt,
  revoked_at: key.revokedAt,
});
