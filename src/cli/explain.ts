/** `ci-insights explain`: why a test is flaky, broken or recovered. */
import { Command } from 'commander';
import { count, print, printable } from '../client/output.ts';
import { parsePath, parseTime } from '../client/parse.ts';
import { FINGERPRINT_VERSION } from '../domain/fingerprint.ts';
import { testIdOf } from '../domain/identity.ts';
import { HEALTH_RECENT_DAYS, JUDGEMENT_VERSION } from '../domain/judgement-constants.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { worstHealth } from '../domain/status.ts';
import { DAY_MS } from '../domain/time.ts';
import { UserError } from '../errors.ts';
import type { ExplainedExecution, IdentityExplanation, RecoveryExplanation } from '../evaluation/explain.ts';
import { withStores } from './stores.ts';

/** Older changes of health are counted, not shown. */
const STEPS_SHOWN_MAX = 5;
const EXECUTIONS_SHOWN_MAX = 5;

export const explainCommand = (): Command =>
  new Command('explain')
    .description("explain a test's health, flaky executions and recovery: which rules and executions decided")
    .argument('<owner/name>', 'the repository', parsePath)
    .argument('<test name>', 'the full name of the test')
    .option('--as-of <time>', 'explain as of this moment, from what had finished by then; default: now', parseTime)
    .action(async ({ owner, name }: RepositoryName, testName: string, { asOf }: { asOf?: string }) => {
      const { explainRecovery, explainTest } = await import('../evaluation/explain.ts');
      print(
        await withStores(async ({ clock, repositories, clickhouse, quarantines }) => {
          const repository = await repositories.find(owner, name);
          if (!repository) throw new UserError(`There is no repository ${owner}/${name}.`);
          const testId = testIdOf(repository.id, testName);
          const moment = asOf === undefined ? undefined : Date.parse(asOf);
          const options = {
            repositoryId: repository.id,
            testId,
            isFlakyDetectionEnabled: repository.flakyDetectionEnabled,
            asOf: moment ?? clock.now() + DAY_MS,
          };
          const identities = await explainTest(clickhouse, options);
          if (identities.length === 0)
            throw new UserError(
              `No passed or failed execution of '${testName}' is retained on the default branch of ${owner}/${name}.`,
            );
          const open = await quarantines.ofTests(repository.id, [testId]);
          const recoveries = await explainRecovery(clickhouse, options, identities, open);
          return describeTest({ title: `${testName} (${owner}/${name})`, identities, recoveries, asOf: moment });
        }),
      );
    });

export interface Explained {
  title: string;
  /** Newest first, at least one. */
  identities: readonly IdentityExplanation[];
  recoveries: readonly RecoveryExplanation[];
  /** Milliseconds since the epoch; undefined for now. */
  asOf: number | undefined;
}

/** The explanation as text. */
export function describeTest({ title, identities, recoveries, asOf }: Explained): string {
  const recent = identities.filter((one) => one.isRecent);
  return [
    printable(title),
    `health: ${worstHealth(recent.map((one) => one.state.health))}${asOf === undefined ? '' : ` as of ${time(asOf)}`} (rules ${JUDGEMENT_VERSION}, fingerprint ${FINGERPRINT_VERSION})`,
    ...identities.flatMap((identity) => ['', ...describeIdentity(identity, asOf)]),
    ...recoveries.flatMap((recovery) => ['', ...describeRecovery(recovery)]),
  ].join('\n');
}

function describeIdentity(identity: IdentityExplanation, asOf: number | undefined): string[] {
  const { state, isRecent, executions, steps, judged } = identity;
  const place = printable(`${identity.pipelineName} / ${identity.jobName}`);
  const shown = steps.slice(-STEPS_SHOWN_MAX);
  return [
    `${place}: ${state.health}${isRecent ? '' : ` (does not count: it last ran more than ${HEALTH_RECENT_DAYS} days before the test's newest execution)`}`,
    `  ${count(executions.length, 'execution')}, ${judged.flaky.size} flaky, ${judged.heldBack.size} held back as infrastructure trouble`,
    ...(steps.length > shown.length ? [`  ${count(steps.length - shown.length, 'earlier change')} not shown`] : []),
    ...(steps.length === 0 ? ['  healthy from the start: no failure that counts'] : []),
    ...shown.flatMap((step) => [
      `  ${step.from} → ${step.to}: ${step.rule}`,
      ...step.executions.map((execution) => `    ${describe(execution, asOf)}`),
    ]),
    ...describeHeld(identity, asOf),
    ...(state.health === 'flaky'
      ? [`  clean passes in a row: ${state.cleanPasses} of ${state.cleanPassesNeeded}`]
      : []),
  ];
}

function describeHeld({ executions, judged }: IdentityExplanation, asOf: number | undefined): string[] {
  const held = executions.filter((execution) => judged.heldBack.has(execution.executionId));
  if (held.length === 0) return [];
  const shown = held.slice(-EXECUTIONS_SHOWN_MAX);
  return [
    `  held back: much else failed in the same run, and no later run confirmed it${held.length > shown.length ? ` (newest ${shown.length})` : ''}:`,
    ...shown.map((execution) => `    ${describe(execution, asOf)}`),
  ];
}

function describeRecovery({ quarantine, isRecovered, identities }: RecoveryExplanation): string[] {
  const since = time(quarantine.createdAt.getTime());
  return [
    `quarantined ${since} (${quarantine.source}, ${printable(quarantine.branch ?? 'every branch')}): ${printable(quarantine.reason)}`,
    `  ${isRecovered ? 'recovered: every identity is healthy and has' : 'not recovered: every identity must be healthy and have'} passed often enough since`,
    ...identities.map(
      ({ pipelineName, jobName, health, cleanPasses, cleanPassesNeeded }) =>
        `  ${printable(`${pipelineName} / ${jobName}`)}: ${health}, ${cleanPasses} of ${cleanPassesNeeded} clean passes`,
    ),
  ];
}

function describe(execution: ExplainedExecution, asOf: number | undefined): string {
  const { status, runId, runAttempt, commit, finishedAt, receivedAt } = execution;
  const late = asOf !== undefined && receivedAt > asOf ? `, stored later (${time(receivedAt)})` : '';
  return printable(
    `${time(finishedAt)} ${status}, run ${runId || '(unknown)'} attempt ${runAttempt}, commit ${commit || '(unknown)'}${late}`,
  );
}

const time = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
