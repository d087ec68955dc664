/** What the commands of all sources share: their flags, and how an import is run and ends. */
import { writeFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import type { RepositoryName } from '../../domain/repository-path.ts';
import { print, printError, printJson } from '../output.ts';
import { parsePath, parseUrl, parseWhole } from '../parse.ts';
import { Repository } from '../repository.ts';
import { Service } from '../service.ts';
import { readClientEnvironment } from '../settings.ts';
import { connectionOf } from '../target.ts';
import { runImport } from './importer.ts';
import type { ImportSource } from './item.ts';
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
