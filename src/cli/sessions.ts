/** `ci-insights sessions …`: the sessions of browsers. It needs PostgreSQL only, so it works while the service runs. */
import { Command } from 'commander';
import { LINK_MINUTES, signInLink } from '../access/sign-in-link.ts';
import { count, formatTable, formatTime, print, printJson } from '../client/output.ts';
import type { Config } from '../config.ts';
import { UserError } from '../errors.ts';
import type { Session } from '../postgres/sessions.ts';
import { announcedAddress } from '../service-lock.ts';
import { operatorOf } from './operator.ts';
import { withPostgres } from './stores.ts';

export const sessionsCommand = (): Command =>
  new Command('sessions')
    .description('list, begin and end the sessions of browsers')
    .addCommand(list())
    .addCommand(link())
    .addCommand(end());

const list = (): Command =>
  new Command('list')
    .description('list the sessions that have not ended, the newest first')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const sessions = await withPostgres((deps) => deps.sessions.list());
      if (json) return printJson(sessions.map(toJson));
      if (sessions.length === 0) return print('No one is signed in.');
      print(
        formatTable(
          ['ID', 'WHO', 'SCOPE', 'OWNER', 'LAST USED', 'ENDS'],
          sessions.map((session) => [
            session.id,
            session.actor,
            session.scope,
            session.owner ?? '(every)',
            formatTime(session.lastUsedAt),
            formatTime(session.expiresAt),
          ]),
        ),
      );
    });

const link = (): Command =>
  new Command('link')
    .description(`print a link that signs an operator in, once, within ${LINK_MINUTES} minutes`)
    .action(async () => {
      const by = operatorOf('sessions link');
      print(
        await withPostgres(({ sessions, config }) =>
          signInLink(sessions, addressOf(config), { keyId: null, actor: by.subject ?? by.name }),
        ),
      );
    });

/** Where the service is reached: as it is configured, or where it says that it listens. */
const addressOf = ({ publicUrl, dataDir, databaseUrl, clickhouseUrl, port }: Config): string =>
  publicUrl ?? (databaseUrl && clickhouseUrl ? undefined : announcedAddress(dataDir)) ?? `http://127.0.0.1:${port}`;

const end = (): Command =>
  new Command('end')
    .description('end sessions; they stop working within seconds')
    .argument('[ids...]', 'ids of sessions, as shown by `sessions list`')
    .option('--all', 'end all of them: everyone signs in again')
    .action(async (ids: string[], { all }: { all?: boolean }) => {
      if (all ? ids.length > 0 : ids.length === 0) throw new UserError('Name the sessions to end, or use --all.');
      const by = operatorOf('sessions end');
      const ended = await withPostgres(async ({ sessions }) => {
        if (all) return sessions.endAll(by);
        const open = new Set((await sessions.list()).map(({ id }) => id));
        const unknown = ids.find((id) => !open.has(id));
        if (unknown !== undefined)
          throw new UserError(
            `There is no session ${unknown} to end. \`ci-insights sessions list\` shows all sessions.`,
          );
        for (const id of ids) await sessions.end(id, by, 'revoked');
        return ids.length;
      });
      print(`${count(ended, 'session')} ended.`);
    });

const toJson = ({
  id,
  actor,
  subject,
  keyId,
  scope,
  owner,
  repositories,
  createdAt,
  lastUsedAt,
  expiresAt,
}: Session) => ({
  id,
  actor,
  subject,
  key_id: keyId,
  scope,
  owner,
  repositories,
  created_at: createdAt,
  last_used_at: lastUsedAt,
  expires_at: expiresAt,
});
