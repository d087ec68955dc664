/** `ci-insights backtest`: what a policy of automatic quarantine would have done. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { count, print, printJson } from '../client/output.ts';
import { parsePath, parseSince, parseUrl } from '../client/parse.ts';
import { type BacktestPolicy, type ChangedConstants, parseConstant } from '../domain/backtest-policy.ts';
import { type BacktestReport, backtestReportSchema } from '../domain/backtest-report.ts';
import { inLog } from '../domain/foreign-text.ts';
import { AUTO_QUARANTINE_MODES, type AutoQuarantineMode } from '../domain/quarantine-rules.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { UserError } from '../errors.ts';
import { ask, findService, type RunningService, type ServiceFlags } from './running.ts';
import { withStores } from './stores.ts';

const POLL_MS = 1_000;
/** The report in JSON has more. */
const SHOWN_MAX = 20;

interface BacktestFlags extends ServiceFlags {
  autoQuarantine: AutoQuarantineMode;
  since: Date;
  narrowed?: boolean;
  set?: ChangedConstants;
  json?: boolean;
}

export const backtestCommand = (): Command =>
  new Command('backtest')
    .description(
      'say what a policy of automatic quarantine would have done: quarantines, red runs spared, regressions hidden',
    )
    .argument('<owner/name>', 'the repository', parsePath)
    .addOption(
      new Option('--auto-quarantine <which>', 'which tests the policy quarantines')
        .choices(AUTO_QUARANTINE_MODES)
        .default('flaky'),
    )
    .option(
      '--since <time>',
      'when it was switched on: 60d, 12h, or a date',
      (value) => parseSince(value),
      parseSince('60d'),
    )
    .option('--narrowed', 'quarantine only the failure groups that decided, not every failure of the test')
    .option('--set <NAME=number>', 'change a constant of the policy; repeatable', collectConstant)
    .option(
      '--url <url>',
      'ask this service (CI_INSIGHTS_URL); default: the stores, or the one that uses them',
      parseUrl,
    )
    .option('--json', 'print JSON')
    .action(async (repository: RepositoryName, { json, ...flags }: BacktestFlags) => {
      const policy: BacktestPolicy = {
        auto_quarantine: flags.autoQuarantine,
        since: flags.since.toISOString(),
        is_narrowed: flags.narrowed ?? false,
        constants: flags.set ?? {},
      };
      const service = findService(flags);
      const report = await (service ? askService(service, repository, policy) : readStores(repository, policy));
      if (json) printJson(report);
      else print(describeBacktest(report, `${repository.owner}/${repository.name}`));
    });

function collectConstant(value: string, before: ChangedConstants | undefined): ChangedConstants {
  try {
    return { ...before, ...parseConstant(value) };
  } catch (error) {
    throw error instanceof RangeError ? new InvalidArgumentError(error.message) : error;
  }
}

const backtestSchema = z.object({ id: z.string(), status: z.string(), report: backtestReportSchema.nullable() });

async function askService(
  service: RunningService,
  { owner, name }: RepositoryName,
  policy: BacktestPolicy,
): Promise<BacktestReport> {
  const address = `/v1/ci/${owner}/repositories/${name}/backtests`;
  let found = await ask(service, backtestSchema, address, 'POST', policy);
  while (found.status === 'running') {
    await sleep(POLL_MS);
    found = await ask(service, backtestSchema, `${address}/${found.id}`);
  }
  if (!found.report) throw new UserError('The backtest failed. The log of the worker that made it says why.');
  return found.report;
}

async function readStores({ owner, name }: RepositoryName, policy: BacktestPolicy): Promise<BacktestReport> {
  const { backtest } = await import('../explain/backtest.ts');
  return withStores(async ({ clickhouse, clock, postgres, repositories }) => {
    const repository = await repositories.find(owner, name);
    if (!repository) throw new UserError(`There is no repository ${owner}/${name}.`);
    const report = await backtest({ clickhouse, db: postgres.db }, { repository, policy, until: clock.now() });
    if (!report) throw new UserError('The backtest was stopped.');
    return report;
  });
}

/** The report as text. */
function describeBacktest(report: BacktestReport, title: string): string {
  const { policy, quarantines, hidden_regressions: hidden } = report;
  const set = Object.entries(policy.constants).map(([name, value]) => `, ${name}=${value}`);
  return [
    inLog(title),
    `policy: ${policy.auto_quarantine}${policy.is_narrowed ? ', narrowed to failure groups' : ''}${set.join('')}`,
    `from ${time(policy.since)} to ${time(report.until)} (rules ${report.rules_version})`,
    ...(report.is_complete ? [] : ['older executions of some tests were not considered: there are too many']),
    '',
    `quarantines: ${report.quarantines_count}, at most ${report.quarantines_at_once} at once, of ${count(report.tests, 'test')} in which something went wrong`,
    `red runs: ${report.red_runs}, spared ${share(report.red_runs_spared, report.red_runs)}`,
    `  on the default branch: ${report.default_branch_red_runs}, spared ${share(report.default_branch_red_runs_spared, report.default_branch_red_runs)}`,
    `regressions hidden: ${report.hidden_regressions_count}`,
    ...quarantines.slice(0, SHOWN_MAX).flatMap((quarantine) => ['', ...describeQuarantine(quarantine)]),
    ...more(report.quarantines_count, 'quarantine'),
    ...hidden.slice(0, SHOWN_MAX).flatMap((regression) => ['', ...describeRegression(regression)]),
    ...more(report.hidden_regressions_count, 'regression'),
  ].join('\n');
}

const share = (part: number, all: number): string =>
  all === 0 ? String(part) : `${part} (${Math.round((100 * part) / all)}%)`;

const more = (all: number, what: string): string[] =>
  all > SHOWN_MAX ? ['', `… and ${count(all - SHOWN_MAX, `more ${what}`)}: see --json`] : [];

function describeQuarantine(one: BacktestReport['quarantines'][number]): string[] {
  const until = one.recovered_at === null ? 'not recovered' : `recovered ${time(one.recovered_at)}`;
  const groups = one.failure_ids === null ? '' : `, ${count(one.failure_ids.length, 'failure group')}`;
  return [
    inLog(one.test_name),
    `  quarantined ${time(one.quarantined_at)}, ${until} (${duration(one.hours)})${groups}`,
    `  ${inLog(one.reason)}`,
    `  red runs spared: ${one.spared_red_runs}, regressions hidden: ${one.hidden_regressions}`,
  ];
}

function describeRegression(one: BacktestReport['hidden_regressions'][number]): string[] {
  const fixed = one.fixed_at === null ? 'not fixed' : `fixed ${time(one.fixed_at)} by ${one.fixed_by ?? '(unknown)'}`;
  const kind = one.kind === 'new_failure' ? 'a new failure' : 'a lasting failure';
  return [
    `hidden: ${inLog(one.test_name)}`,
    `  ${kind} in ${inLog(`${one.pipeline_name} / ${one.job_name}`)} from commit ${inLog(one.commit ?? '(unknown)')} on, on ${count(one.commits, 'commit')}`,
    `  first failed ${time(one.first_failed_at)}, ${inLog(fixed)}`,
  ];
}

const duration = (hours: number): string => (hours < 48 ? count(hours, 'hour') : count(Math.round(hours / 24), 'day'));
const time = (at: string): string => at.replace(/\.\d+Z$/, 'Z');
