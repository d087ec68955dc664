/** `import <host> <repository>`: the same command for each host. */
import { Command } from 'commander';
import type { RepositoryName } from '../../domain/repository-path.ts';
import { UserError } from '../../errors.ts';
import { printError } from '../output.ts';
import { parseSince, parseUrl, parseWhole } from '../parse.ts';
import { readClientEnvironment } from '../settings.ts';
import { AnswerCache } from './answer-cache.ts';
import type { ImportHost } from './host.ts';
import { HostClient, HostRefusal } from './host-client.ts';
import { hostSource } from './host-source.ts';
import { type ImportFlags, importFrom, withImport } from './run-command.ts';

const ARTIFACT_BYTES_MAX_DEFAULT = 2 * 1024 ** 3;
const DAYS_DEFAULT = '90d';

interface HostFlags extends ImportFlags {
  since: Date;
  until?: Date;
  apiUrl: string;
  artifactBytes: number;
  logs: boolean;
}

interface From {
  path: string;
  repository: RepositoryName | undefined;
}

export const hostCommand = <Run, Gathered>(host: ImportHost<Run, Gathered>): Command =>
  withImport(
    new Command(host.name)
      .description(`${host.description}. The token is in ${host.tokenVariable}`)
      .argument(
        `<${host.pathExample}>`,
        `the repository on ${host.title}`,
        (path): From => ({
          path,
          repository: host.parsePath(path),
        }),
      )
      .option('--since <time>', 'from when on: 90d, or a date', (value) => parseSince(value), parseSince(DAYS_DEFAULT))
      .option('--until <time>', 'up to when: 30d (before now), or a date; now without it', (value) => parseSince(value))
      .option(
        '--api-url <url>',
        `address of the API of an own instance, such as ${host.ownApiExample}`,
        parseUrl,
        host.apiUrl,
      )
      .option('--artifact-bytes <bytes>', 'a larger artifact is left out', parseWhole, ARTIFACT_BYTES_MAX_DEFAULT)
      .option('--no-logs', 'read no log of a job that left no report'),
  ).action((from: From, flags: HostFlags) => importFromHost(host, from, flags));

async function importFromHost<Run, Gathered>(
  host: ImportHost<Run, Gathered>,
  { path, repository: own }: From,
  flags: HostFlags,
): Promise<void> {
  const repository = flags.repo ?? own;
  if (!repository)
    throw new UserError(`${path} is no name of a repository in ci-insights. Give one: --repo owner/name.`);
  const [since, until] = [flags.since.getTime(), flags.until?.getTime() ?? Date.now()];
  if (until <= since) throw new UserError('--until is not after --since.');
  const state = flags.state ?? `ci-insights-import-${path.replaceAll('/', '-')}.state`;
  const cache = new AnswerCache(`${state}.answers`);
  const token = readClientEnvironment().variables[host.tokenVariable];
  const client = new HostClient(
    { name: host.title, url: flags.apiUrl.replace(/(?<!\/)\/+$/, ''), headers: host.headersOf(token) },
    {
      patienceMs: flags.patience * 60_000,
      cache,
      onWait: (reason) => printError(`Waiting: ${reason}.`),
      signal: new AbortController().signal,
    },
  );
  const source = hostSource(host, {
    client,
    path,
    since,
    until,
    folder: `${state}.artifacts`,
    artifactBytesMax: flags.artifactBytes,
    readsLogs: flags.logs,
  });
  const isComplete = await importFrom(source, repository, { ...flags, state }).catch((error: unknown) => {
    throw error instanceof HostRefusal ? new UserError(sentenceOf(error, host)) : error;
  });
  if (isComplete) cache.remove();
}

/** The refusal, with how to fix it. */
const sentenceOf = (
  { message, status }: HostRefusal,
  { tokenVariable, tokenNeeds }: Pick<ImportHost<never, never>, 'tokenVariable' | 'tokenNeeds'>,
): string =>
  status !== undefined && status < 500
    ? `${message}. Set ${tokenVariable} to a token that ${tokenNeeds}.`
    : `${message}. Start it again to continue.`;
