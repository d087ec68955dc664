/** `ci-insights audit`: who changed what. It needs PostgreSQL only, so it works while the service runs, and without it. */
import { Command, Option } from 'commander';
import { formatTable, formatTime, print, printJson } from '../client/output.ts';
import { parsePath, parseSince, parseWholeWithin } from '../client/parse.ts';
import { AUDIT_ACTIONS, type AuditAction } from '../domain/audit.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { DAY_MS } from '../domain/time.ts';
import { withPostgres } from './stores.ts';

interface AuditOptions {
  actor?: string;
  action?: AuditAction;
  owner?: string;
  repo?: RepositoryName;
  since?: Date;
  limit: number;
  json?: boolean;
}

const SINCE_DAYS = 30;
const LIMIT = { usual: 100, max: 100_000 };

export const auditCommand = (): Command =>
  new Command('audit')
    .description('show who changed what: keys, sessions, settings, quarantines; newest first')
    .option('--actor <name>', 'only what this actor did: a name, or the id of a key or of a session')
    .addOption(new Option('--action <action>', 'only this action').choices(AUDIT_ACTIONS))
    .option('--owner <owner>', 'only what concerns this owner')
    .option('--repo <owner/name>', 'only what concerns this repository', parsePath)
    .option(
      '--since <when>',
      `from when on: a time ago (12h, 90d, 4w, 1y) or a date; default: ${SINCE_DAYS}d`,
      (value) => parseSince(value),
    )
    .option('--limit <n>', 'how many entries at most', parseWholeWithin(1, LIMIT.max), LIMIT.usual)
    .option('--json', 'print JSON')
    .action(async ({ actor, action, owner, repo, since, limit, json }: AuditOptions) => {
      const { listAudit } = await import('../postgres/audit.ts');
      const { auditJson } = await import('../operate/audit.ts');
      const place = repo ?? (owner === undefined ? undefined : { owner, name: undefined });
      const entries = await withPostgres(({ postgres, clock }) => {
        const end = clock.now() + 1;
        return listAudit(postgres.db, {
          actor,
          actions: action === undefined ? [] : [action],
          repository: place,
          window: { start: since?.getTime() ?? end - SINCE_DAYS * DAY_MS, end },
          key: null,
          direction: 'next',
          rows: limit,
        });
      });
      if (json) return printJson(entries.map(auditJson));
      if (entries.length === 0) return print('Nothing was changed in this time.');
      print(
        formatTable(
          ['WHEN', 'WHO', 'ACTION', 'WHAT', 'WHERE'],
          entries.map((entry) => [
            formatTime(entry.at),
            entry.subject === null ? entry.actorName : `${entry.actorName} (${entry.subject})`,
            entry.action,
            entry.objectName ?? entry.objectId ?? '-',
            entry.repository === null ? (entry.owner ?? '-') : `${entry.owner}/${entry.repository}`,
          ]),
        ),
      );
    });
