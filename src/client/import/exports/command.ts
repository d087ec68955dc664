/** `import ctrf|allure|reportportal|buildkite <export>`: the same command for each tool. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { UserError } from '../../../errors.ts';
import { parseTime } from '../../parse.ts';
import { type ImportFlags, importFrom, withImport } from '../run-command.ts';
import { allure } from './allure.ts';
import { buildkite } from './buildkite.ts';
import { ctrf } from './ctrf.ts';
import type { ExportTool } from './export.ts';
import { reportportal } from './reportportal.ts';
import { openExport, type Said } from './source.ts';

const TOOLS: readonly ExportTool[] = [ctrf, allure, reportportal, buildkite];

export const exportCommands = (): Command[] => TOOLS.map(exportCommand);

const exportCommand = (tool: ExportTool): Command =>
  withImport(
    new Command(tool.name)
      .description(tool.description)
      .argument('<export>', 'a file, a folder with folders, or a zip')
      .option('--commit <sha>', 'what was tested, of reports that do not say it')
      .option('--branch <name>', 'the branch, of reports that do not say it')
      .option('--at <time>', 'when the tests ran, of reports that do not say it', parseTime)
      .option('--pipeline <name>', 'name of the pipeline (workflow)')
      .option('--job <name>', 'name of the CI job')
      .option('--default-branch <name>', "the repository's default branch"),
  ).action(async (path: string, flags: ImportFlags & Said) => {
    if (!flags.repo) throw new UserError('Name the repository: --repo owner/name.');
    const state = flags.state ?? `${resolve(path)}.state`;
    await importFrom(await openExport(tool, path, flags), flags.repo, { ...flags, state });
  });
