/** `ci-insights import <source> …`: the history of a repository, from before the service knew it. */
import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import type { RepositoryName } from '../../domain/repository-path.ts';
import { UserError } from '../../errors.ts';
import { print, printError, printJson } from '../output.ts';
import { parsePath, parseUrl, parseWhole } from '../parse.ts';
import { Repository } from '../repository.ts';
import { Service } from '../service.ts';
import { readClientEnvironment } from '../settings.ts';
import { connectionOf } from '../target.ts';
import { runImport } from './importer.ts';
import type { ImportSource } from './item.ts';
import { openManifest } from './manifest.ts';
import { ImportProgress } from './progress.ts';
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
}

const PATIENCE_MINUTES_DEFAULT = 60;

export function importCommand(): Command {
  const command = new Command('import').description(
    'import results of the past: they count as if they had been sent then, and quarantine, announce and end nothing',
  );
  for (const source of [folderCommand()]) command.addCommand(source);
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
    .option('--json', 'print the receipt as JSON');

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

/** Runs the import, and prints its receipt. */
export async function importFrom(
  source: ImportSource,
  { owner, name }: RepositoryName,
  flags: ImportFlags & { state: string },
): Promise<void> {
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
      progress: new ImportProgress(process.stderr.isTTY === true),
      patienceMs: flags.patience * 60_000,
      signal: stopping.signal,
    });
    const receipt = tally.receipt(head, { startedAt, finishedAt: Date.now(), isComplete });
    if (flags.receipt !== undefined) writeFileSync(flags.receipt, `${JSON.stringify(receipt, null, 2)}\n`);
    if (flags.json) printJson(receipt);
    else for (const line of receiptLines(receipt)) print(line);
    if (!isComplete) printError(`Stopped. Start it again to go on: ${flags.state} says how far it is.`);
    if (!isComplete) process.exitCode = 1;
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    state.close();
  }
}
