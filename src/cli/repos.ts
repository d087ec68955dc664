/** `ci-insights repos …`: the known repositories and their settings. */

import { Command, Option } from 'commander';
import { formatTable, print, printJson } from '../client/output.ts';
import { parseOnOff, parsePath, parseWholeWithin } from '../client/parse.ts';
import {
  AUTO_QUARANTINE_MODES,
  type AutoQuarantineMode,
  QUARANTINE_LIMIT_MAX,
  QUARANTINE_WARNING_DAYS_MAX,
} from '../domain/quarantine-rules.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import {
  EVENT_RETENTION_DAYS_MAX,
  FORGET_TESTS_AFTER_DAYS_MIN,
  needsRebuild,
  type SettingsChange,
  settingsChangeSchema,
} from '../domain/repository-settings.ts';
import { RERUN_PERCENT_MAX } from '../domain/rerun-plan.ts';
import { UserError } from '../errors.ts';
import { columnsOf, type Repository, settingsOf } from '../postgres/repositories.ts';
import { doerOf } from '../postgres/repository-changes.ts';
import { operatorOf } from './operator.ts';
import { deleteCommand } from './repos-delete.ts';
import { withPostgres } from './stores.ts';

interface SetOptions {
  defaultBranch?: string;
  flakyDetection?: boolean;
  autoQuarantine?: AutoQuarantineMode;
  quarantineLimit?: number | 'off';
  quarantineWarningDays?: number;
  reruns?: number | null;
  ciMinutePrice?: number | null;
  waitingHourPrice?: number | null;
  eventRetentionDays?: number | null;
  renameConfidenceMin?: number | null;
  executionRetentionDays?: number | null;
  forgetTestsAfterDays?: number | null;
  hostPage?: { kind: string; url: string } | 'off';
  testOwners?: string;
  create?: boolean;
  host: string;
}

export const reposCommand = (): Command =>
  new Command('repos')
    .description('list repositories, change their settings, delete them')
    .addCommand(list())
    .addCommand(set())
    .addCommand(rename())
    .addCommand(deleteCommand());

const list = (): Command =>
  new Command('list')
    .description('list all known repositories')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const repositories = await withPostgres((deps) => deps.repositories.list());
      if (json) return printJson(repositories.map(toJson));
      if (repositories.length === 0) return print('There are no repositories yet.');
      print(table(repositories));
    });

const set = (): Command =>
  new Command('set')
    .description('change settings of a repository')
    .argument('<owner/name>', 'the repository', parsePath)
    .option('--default-branch <branch>', 'the branch that insights cover; overrides what uploads say')
    .option('--flaky-detection <on|off>', 'whether to detect flaky tests', parseOnOff)
    .addOption(
      new Option('--auto-quarantine <which>', 'which tests to quarantine automatically').choices(AUTO_QUARANTINE_MODES),
    )
    .option('--quarantine-limit <n|off>', 'how many quarantines stop automatic ones', parseQuarantineLimit)
    .option(
      '--quarantine-warning-days <n>',
      'how many days before its end a quarantine is announced to end; 0: never',
      parseWholeWithin(0, QUARANTINE_WARNING_DAYS_MAX),
    )
    .option(
      '--reruns <percent|off>',
      'how much longer test runners may take to run new and unhealthy tests again',
      parseReruns,
    )
    .option('--ci-minute-price <money|off>', 'money for a minute of CI, shown with what red runs cost', parsePrice)
    .option('--waiting-hour-price <money|off>', 'money for an hour in which an author waits', parsePrice)
    .option(
      '--event-retention-days <n|off>',
      'for how many days events are kept; off: as long as executions',
      parseDays,
    )
    .option(
      '--rename-confidence-min <0.9 to 1|off>',
      'from which confidence on proposed renames of tests are accepted; off: people decide',
      parseConfidence,
    )
    .option(
      '--execution-retention-days <n|off>',
      'for how many days executions are kept, by whole months; off: as long as the installation does',
      parseDays,
    )
    .option(
      '--forget-tests-after-days <n|off>',
      'after how many days without a run a test is forgotten; off: never',
      parseForgetDays,
    )
    .option(
      '--host-page <kind=address|off>',
      'where the repository is shown, such as gitlab=https://git.example.com/acme/shop; off: as uploads say',
      parseHostPage,
    )
    .option('--test-owners <file>', 'JSON file with the rules that say who owns tests; - is the standard input')
    .option('--create', 'add the repository if nothing was uploaded for it yet')
    .option('--host <host>', 'the repository host, with --create', 'github.com')
    .action(async ({ owner, name }: RepositoryName, options: SetOptions) => {
      const change = await changeOf(options);
      const { before, after } = await withPostgres(async ({ repositories }) => {
        const before = await repositories.find(owner, name);
        if (!before && !options.create)
          throw new UserError(
            `There is no repository ${owner}/${name} yet. Check the name, or add it before its first upload with --create.`,
          );
        const by = doerOf(operatorOf('repos set'));
        const known = before ?? (await repositories.record({ host: options.host, owner, name }, by.audit));
        return { before, after: await repositories.set(known, columnsOf(change), by) };
      });
      print(table([after]));
      if (before && needsRebuild(settingsOf(before), settingsOf(after)))
        print(
          'Stored executions follow the old setting until you run `ci-insights rebuild`. New uploads follow the new one.',
        );
    });

const rename = (): Command =>
  new Command('rename')
    .description('move a repository to a new path, keeping its id, tests and history')
    .argument('<owner/old>', 'its old path', parsePath)
    .argument('<owner/new>', 'its new path', parsePath)
    .action(async (from: RepositoryName, to: RepositoryName) => {
      const renamed = await withPostgres(({ repositories }) =>
        repositories.rename(from, to, doerOf(operatorOf('repos rename'))),
      );
      if (renamed === undefined) throw new UserError(`There is no repository ${from.owner}/${from.name}.`);
      if (renamed === 'taken')
        throw new UserError(`${to.owner}/${to.name} is already another repository, with other tests.`);
      print(table([renamed]));
    });

/** Not null for `off`, which commander would take for a missing value. */
const parseQuarantineLimit = (value: string): number | 'off' =>
  value === 'off' ? value : parseWholeWithin(1, QUARANTINE_LIMIT_MAX)(value);

const parseReruns = (value: string): number | null =>
  value === 'off' ? null : parseWholeWithin(1, RERUN_PERCENT_MAX)(value);

const parseDays = (value: string): number | null =>
  value === 'off' ? null : parseWholeWithin(1, EVENT_RETENTION_DAYS_MAX)(value);

const parseForgetDays = (value: string): number | null =>
  value === 'off' ? null : parseWholeWithin(FORGET_TESTS_AFTER_DAYS_MIN, EVENT_RETENTION_DAYS_MAX)(value);

/** Whatever the text is, the rule of the settings reads it. */
function parseHostPage(value: string): { kind: string; url: string } | 'off' {
  if (value === 'off') return value;
  const [kind = '', ...rest] = value.split('=');
  return { kind, url: rest.join('=') };
}

/** Text without a number becomes NaN, which the rule of the settings refuses. */
const parseConfidence = (value: string): number | null => (value === 'off' ? null : Number(value));
const parsePrice = (value: string): number | null => (value === 'off' ? null : Number(value));

/** The rules are checked with the other settings. */
async function readRules(file: string): Promise<unknown> {
  try {
    return JSON.parse(await (file === '-' ? Bun.stdin : Bun.file(file)).text());
  } catch (error) {
    if (error instanceof SyntaxError) throw new UserError(`${file} is not JSON: ${error.message}.`);
    throw new UserError(`${file} cannot be read.`);
  }
}

/** Throws a {@link UserError} for what the rule of the settings refuses. */
async function changeOf(options: SetOptions): Promise<SettingsChange> {
  const { quarantineLimit: limit } = options;
  const change = {
    default_branch: options.defaultBranch,
    flaky_detection_enabled: options.flakyDetection,
    auto_quarantine: options.autoQuarantine,
    quarantine_limit: limit === 'off' ? null : limit,
    quarantine_warning_days: options.quarantineWarningDays,
    rerun_percent: options.reruns,
    ci_minute_price: options.ciMinutePrice,
    waiting_hour_price: options.waitingHourPrice,
    event_retention_days: options.eventRetentionDays,
    rename_confidence_min: options.renameConfidenceMin,
    execution_retention_days: options.executionRetentionDays,
    forget_tests_after_days: options.forgetTestsAfterDays,
    host_page: options.hostPage === 'off' ? null : options.hostPage,
    test_owners: options.testOwners === undefined ? undefined : await readRules(options.testOwners),
  };
  if (Object.values(change).every((value) => value === undefined))
    throw new UserError(
      'Pass at least one of --default-branch, --flaky-detection, --auto-quarantine, --quarantine-limit, --quarantine-warning-days, --reruns, --ci-minute-price, --waiting-hour-price, --event-retention-days, --execution-retention-days, --forget-tests-after-days, --rename-confidence-min, --host-page and --test-owners.',
    );
  const read = settingsChangeSchema.safeParse(change);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UserError(`The ${issue?.path.join('.').replaceAll('_', ' ')} ${issue?.message}.`);
}

const table = (repositories: readonly Repository[]): string =>
  formatTable(
    [
      'REPOSITORY',
      'HOST',
      'DEFAULT BRANCH',
      'SOURCE',
      'FLAKY DETECTION',
      'AUTO-QUARANTINE',
      'LIMIT',
      'WARNING DAYS',
      'RERUNS',
    ],
    repositories.map((repository) => [
      `${repository.owner}/${repository.name}`,
      repository.host,
      repository.defaultBranch ?? '-',
      repository.defaultBranchSource ?? '-',
      repository.flakyDetectionEnabled ? 'on' : 'off',
      repository.autoQuarantine,
      repository.quarantineLimit?.toString() ?? '-',
      repository.quarantineWarningDays.toString(),
      repository.rerunPercent === null ? 'off' : `${repository.rerunPercent}%`,
    ]),
  );

const toJson = (repository: Repository) => ({
  id: repository.id,
  host: repository.host,
  owner: repository.owner,
  name: repository.name,
  ...settingsOf(repository),
  default_branch_source: repository.defaultBranchSource,
  created_at: repository.createdAt,
});
