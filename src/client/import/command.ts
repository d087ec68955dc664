/** `ci-insights import <source> …`: the history of a repository, from before the service knew it. */
import { Command } from 'commander';
import { UserError } from '../../errors.ts';
import { exportCommands } from './exports/command.ts';
import { github } from './github/github.ts';
import { gitlab } from './gitlab/gitlab.ts';
import { hostCommand } from './host-command.ts';
import { openManifest } from './manifest.ts';
import { type ImportFlags, importFrom, withImport } from './run-command.ts';

export function importCommand(): Command {
  const command = new Command('import').description(
    'import results of the past: they count as if they had been sent then, and quarantine, announce and end nothing',
  );
  for (const source of [folderCommand(), hostCommand(github), hostCommand(gitlab), ...exportCommands()])
    command.addCommand(source);
  return command;
}

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
