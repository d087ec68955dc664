/** `ci-insights import <source> …`: the history of a repository, from before the service knew it. */
import { writeFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import type { RepositoryName } from '../../domain/repository-path.ts';
import { UserError } from '../../errors.ts';
import { print, printError, printJson } from '../output.ts';
import { parsePath, parseSince, parseUrl, parseWhole } from '../parse.ts';
import { Repository } from '../repository.ts';
import { Service } from '../service.ts';
import { readClientEnvironment } from '../settings.ts';
import { connectionOf } from '../target.ts';
import { AnswerCache } from './answer-cache.ts';
import { githubSource } from './github.ts';
import { HostClient, HostRefusal } from './host-client.ts';
import { runImport } from './importer.ts';
import type { ImportSource } from './item.ts';
import { openManifest } from './manifest.ts';
import { ImportProgress } from './progress.ts';
import { ProgressLines } from './progress-lines.ts';
import { receiptLines } from './receipt.ts';
import { ImportState, type StateHead } from './state.ts';

/** Flags of every source. */
export interface ImportFlags {
  url?: string;
  repo?: RepositoryName;
  state?: string;
  receipt?: string;
  patience: number;
  json?: boolean;
  /** For the service, which runs it for its page. */
  progressLines?: boolean;
}

const PATIENCE_MINUTES_DEFAULT = 60;

export function importCommand(): Command {
  const command = new Command('import').description(
    'import results of the past: they count as if they had been sent then, and quarantine, announce and end nothing',
  );
  for (const source of [folderCommand(), githubCommand()]) command.addCommand(source);
  return command;
}

export const withImport = (command: Command): Command =>
  command
    .option('--url <url>', 'address of the service (CI_INSIGHTS_URL, http://127.0.0.1:3000)', parseUrl)
    .option('--repo <owner/name>', 'the repository in ci-insights', parsePath)
    .option('--state <file>', 'where it notes how far it is, to go on there when it is started again')
    .option('--receipt <file>', 'where it writes what was taken, what not, and why, as JSON')
    .option(
      '--patience <minutes>',
      'how long the service or the host may be away before it gives up',
      parseWhole,
      PATIENCE_MINUTES_DEFAULT,
    )
    .option('--json', 'print the receipt as JSON')
    .addOption(new Option('--progress-lines', 'say how far it is in lines of JSON').hideHelp());

interface FolderFlags extends ImportFlags {
  manifest: string;
}

const folderCommand = (): Command =>
  withImport(
    new Command('folder')
      .description('import a folder of reports of any format; a manifest says the run of each (docs/import.md)')
      .argument('<folder>', 'the folder that paths in the manifest begin at')
      .requiredOption('--manifest <file>', 'a line of JSON for each report'),
  ).action(async (folder: string, flags: FolderFlags) => {
    if (!flags.repo) throw new UserError('Name the repository: --repo owner/name.');
    const source = await openManifest(folder, flags.manifest);
    await importFrom(source, flags.repo, { ...flags, state: flags.state ?? `${flags.manifest}.state` });
  });

interface GithubFlags extends ImportFlags {
  since: Date;
  apiUrl: string;
  artifactBytes: number;
  logs: boolean;
}

const githubCommand = (): Command =>
  withImport(
    new Command('github')
      .description(
        'import what GitHub Actions has of a repository: reports in artifacts, results in logs, pull requests. The token is in GITHUB_TOKEN',
      )
      .argument('<owner/name>', 'the repository on GitHub', parsePath)
      .option('--since <time>', 'from when on: 90d, or a date', (value) => parseSince(value), parseSince('90d'))
      .option(
        '--api-url <url>',
        'address of the API of GitHub Enterprise, such as https://git.example.com/api/v3',
        parseUrl,
        GITHUB_API,
      )
      .option('--artifact-bytes <bytes>', 'a larger artifact is left out', parseWhole, ARTIFACT_BYTES_MAX_DEFAULT)
      .option('--no-logs', 'read no log of a job that left no report'),
  ).action(async (from: RepositoryName, flags: GithubFlags) => {
    const { variables } = readClientEnvironment();
    const path = `${from.owner}/${from.name}`;
    const state = flags.state ?? `ci-insights-import-${from.owner}-${from.name}.state`;
    const cache = new AnswerCache(`${state}.answers`);
    const source = githubSource({
      client: new HostClient(
        {
          name: 'GitHub',
          url: flags.apiUrl.replace(/(?<!\/)\/+$/, ''),
          headers: {
            accept: 'application/vnd.github+json',
            'x-github-api-version': '2022-11-28',
            ...(variables.GITHUB_TOKEN && { authorization: `Bearer ${variables.GITHUB_TOKEN}` }),
          },
        },
        {
          patienceMs: flags.patience * 60_000,
          cache,
          onWait: (reason) => printError(`Waiting: ${reason}.`),
          signal: new AbortController().signal,
        },
      ),
      path,
      since: flags.since.getTime(),
      until: Date.now(),
      folder: `${state}.artifacts`,
      artifactBytesMax: flags.artifactBytes,
      readsLogs: flags.logs,
    });
    const isComplete = await importFrom(source, flags.repo ?? from, { ...flags, state }).catch((error: unknown) => {
      throw error instanceof HostRefusal ? new UserError(sentenceOf(error)) : error;
    });
    if (isComplete) cache.remove();
  });

/** What to do about it. */
const sentenceOf = ({ message, status }: HostRefusal): string =>
  status !== undefined && status < 500
    ? `${message}. Set GITHUB_TOKEN to a token that may read the repository, its Actions and pull requests.`
    : `${message}. Start it again to continue.`;

const GITHUB_API = 'https://api.github.com';
const ARTIFACT_BYTES_MAX_DEFAULT = 2 * 1024 ** 3;

/** Runs the import, and prints its receipt. Returns whether the source was read to its end. */
export async function importFrom(
  source: ImportSource,
  { owner, name }: RepositoryName,
  flags: ImportFlags & { state: string },
): Promise<boolean> {
  const connection = connectionOf(flags, readClientEnvironment());
  const service = new Service(connection, { totalMs: Number.POSITIVE_INFINITY });
  const head: StateHead = { v: 1, service: service.url, repository: `${owner}/${name}`, source: source.name };
  const state = ImportState.open(flags.state, head);
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  const startedAt = Date.now();
  try {
    const { tally, isComplete } = await runImport({
      repository: new Repository(service, owner, name),
      source,
      state,
      progress: flags.progressLines ? new ProgressLines() : new ImportProgress(process.stderr.isTTY === true),
      patienceMs: flags.patience * 60_000,
      signal: stopping.signal,
    });
    const receipt = tally.receipt(head, { startedAt, finishedAt: Date.now(), isComplete });
    if (flags.receipt !== undefined) writeFileSync(flags.receipt, `${JSON.stringify(receipt, null, 2)}\n`);
    if (flags.json) printJson(receipt);
    else if (!flags.progressLines) for (const line of receiptLines(receipt)) print(line);
    if (!isComplete) printError(`Stopped. Start it again to go on: ${flags.state} says how far it is.`);
    if (!isComplete) process.exitCode = 1;
    return isComplete;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    state.close();
  }
}
