/** `ci-insights repos …`: what is known of repositories, and their settings. */

import { Command, Option } from 'commander';
import { NAME_LENGTH_MAX } from '../domain/limits.ts';
import { AUTO_QUARANTINE_MODES, type AutoQuarantineMode } from '../domain/quarantine-rules.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { UserError } from '../errors.ts';
import type { Repository, RepositorySettings } from '../postgres/repositories.ts';
import { formatTable, print, printJson } from './output.ts';
import { parseOnOff, parsePath } from './parse.ts';
import { withPostgres } from './stores.ts';

interface SetOptions {
  defaultBranch?: string;
  flakyDetection?: boolean;
  autoQuarantine?: AutoQuarantineMode;
  host: string;
}

export const reposCommand = (): Command =>
  new Command('repos')
    .description('list repositories and change their settings')
    .addCommand(list())
    .addCommand(set())
    .addCommand(rename());

const list = (): Command =>
  new Command('list')
    .description('list the repositories that were ever written to')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const repositories = await withPostgres((deps) => deps.repositories.list());
      if (json) return printJson(repositories.map(shown));
      if (repositories.length === 0) return print('No repository was written to yet.');
      print(table(repositories));
    });

const set = (): Command =>
  new Command('set')
    .description('change settings of a repository; it is recorded if it is not known yet')
    .argument('<owner/name>', 'the repository', parsePath)
    .option('--default-branch <branch>', 'the branch that insights look at; overrules what uploads say')
    .option('--flaky-detection <on|off>', 'whether its tests are judged flaky', parseOnOff)
    .addOption(
      new Option('--auto-quarantine <which>', 'which tests to quarantine automatically').choices(AUTO_QUARANTINE_MODES),
    )
    .option('--host <host>', 'where the repository lives, for one that is not known yet', 'github.com')
    .action(async ({ owner, name }: RepositoryName, options: SetOptions) => {
      const settings = settingsOf(options);
      const { before, after } = await withPostgres(async ({ repositories }) => {
        const before = await repositories.find(owner, name);
        const known = before ?? (await repositories.record({ host: options.host, owner, name }));
        return { before, after: await repositories.set(known, settings, 'ci-insights repos set') };
      });
      print(table([after]));
      const wantsRebuild =
        before &&
        ((before.defaultBranch !== null && before.defaultBranch !== after.defaultBranch) ||
          before.flakyDetectionEnabled !== after.flakyDetectionEnabled);
      if (wantsRebuild)
        print(
          'What is stored already follows the old setting until `ci-insights rebuild` is run. New uploads follow the new one.',
        );
    });

const rename = (): Command =>
  new Command('rename')
    .description('tell of a repository that has another path now; its id, its tests and its history stay')
    .argument('<owner/old>', 'where it was', parsePath)
    .argument('<owner/new>', 'where it is', parsePath)
    .action(async (from: RepositoryName, to: RepositoryName) => {
      const renamed = await withPostgres(({ repositories }) => repositories.rename(from, to));
      if (renamed === undefined) throw new UserError(`No repository ${from.owner}/${from.name} is recorded.`);
      if (renamed === 'taken')
        throw new UserError(`${to.owner}/${to.name} is recorded as another repository already, with tests of its own.`);
      print(table([renamed]));
    });

function settingsOf({ defaultBranch, flakyDetection, autoQuarantine }: SetOptions): RepositorySettings {
  if (defaultBranch !== undefined && (defaultBranch === '' || defaultBranch.length > NAME_LENGTH_MAX))
    throw new UserError(`A branch has 1 to ${NAME_LENGTH_MAX} characters.`);
  const settings: RepositorySettings = {
    ...(defaultBranch === undefined ? {} : { defaultBranch: defaultBranch.replace(/^refs\/heads\//, '') }),
    ...(flakyDetection === undefined ? {} : { flakyDetectionEnabled: flakyDetection }),
    ...(autoQuarantine === undefined ? {} : { autoQuarantine }),
  };
  if (Object.keys(settings).length === 0)
    throw new UserError('Say what to set: --default-branch, --flaky-detection or --auto-quarantine.');
  return settings;
}

const table = (repositories: readonly Repository[]): string =>
  formatTable(
    ['REPOSITORY', 'HOST', 'DEFAULT BRANCH', 'SAID BY', 'FLAKY DETECTION', 'AUTO-QUARANTINE'],
    repositories.map((repository) => [
      `${repository.owner}/${repository.name}`,
      repository.host,
      repository.defaultBranch ?? '-',
      repository.defaultBranchSource ?? '-',
      repository.flakyDetectionEnabled ? 'on' : 'off',
      repository.autoQuarantine,
    ]),
  );

const shown = (repository: Repository) => ({
  id: repository.id,
  host: repository.host,
  owner: repository.owner,
  name: repository.name,
  default_branch: repository.defaultBranch,
  default_branch_source: repository.defaultBranchSource,
  flaky_detection_enabled: repository.flakyDetectionEnabled,
  auto_quarantine: repository.autoQuarantine,
  created_at: repository.createdAt,
});
