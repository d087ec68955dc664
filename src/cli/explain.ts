/** `ci-insights explain`: why a test is flaky, broken or recovered. */
import { Command } from 'commander';
import { z } from 'zod';
import { count, print, printJson } from '../client/output.ts';
import { parsePath, parseTime, parseUrl } from '../client/parse.ts';
import { quarantineProposal } from '../client/quarantine-proposal.ts';
import { axesWords } from '../domain/axes-in-words.ts';
import { inLog } from '../domain/foreign-text.ts';
import { HEALTH_RECENT_DAYS } from '../domain/judgement-constants.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { UserError } from '../errors.ts';
import type { Explanation } from '../explain/explanation-schema.ts';
import { onPostgres } from '../postgres/client.ts';
import { testIdNamed } from '../postgres/test-names.ts';
import { ask, findService, type RunningService, type ServiceFlags } from './running.ts';
import { withStores } from './stores.ts';

/** Older changes of health are counted, not shown. */
const CHANGES_SHOWN_MAX = 5;
const EXECUTIONS_SHOWN_MAX = 5;

interface ExplainFlags extends ServiceFlags {
  asOf?: string;
  json?: boolean;
}

interface Asked extends RepositoryName {
  testName: string;
  asOf: string | undefined;
}

export const explainCommand = (): Command =>
  new Command('explain')
    .description("explain a test's health, flaky executions and recovery: which rules and executions decided")
    .argument('<owner/name>', 'the repository', parsePath)
    .argument('<test name>', 'the full name of the test')
    .option('--as-of <time>', 'explain as of this moment, from what had finished by then; default: now', parseTime)
    .option(
      '--url <url>',
      'ask this service (CI_INSIGHTS_URL); default: the stores, or the one that uses them',
      parseUrl,
    )
    .option('--json', 'print JSON')
    .action(async ({ owner, name }: RepositoryName, testName: string, { asOf, json, ...flags }: ExplainFlags) => {
      const asked = { owner, name, testName, asOf };
      const service = findService(flags);
      const explanation = await (service ? askService(service, asked) : readStores(asked));
      if (!explanation || explanation.identities.length === 0)
        throw new UserError(
          `No passed or failed execution of '${testName}' is retained on the default branch of ${owner}/${name}${asOf === undefined ? '' : ` that had finished by ${asOf}`}.`,
        );
      if (json) printJson(explanation);
      else {
        print(describeTest(explanation, `${testName} (${owner}/${name})`));
        const scope = explanation.fails_with?.scope;
        if (scope && asOf === undefined && explanation.quarantines.length === 0)
          print(inLog(quarantineProposal(testName, scope)));
      }
    });

const found = z.object({ tests: z.array(z.object({ test_id: z.string(), test_name: z.string() })) });

async function askService(
  service: RunningService,
  { owner, name, testName, asOf }: Asked,
): Promise<Explanation | undefined> {
  const { explanationSchema } = await import('../explain/explanation-schema.ts');
  const address = `/v1/ci/${owner}/repositories/${name}`;
  const search = new URLSearchParams({ test_name: testName.replace(/[*?\\]/g, '\\$&'), per_page: '100' });
  const { tests } = await ask(service, found, `${address}/search/tests?${search}`);
  const test = tests.find(({ test_name }) => test_name === testName);
  if (!test) return undefined;
  const moment = asOf === undefined ? '' : `?${new URLSearchParams({ as_of: asOf })}`;
  return ask(service, explanationSchema, `${address}/tests/${test.test_id}/explanation${moment}`);
}

async function readStores({ owner, name, testName, asOf }: Asked): Promise<Explanation> {
  const { explain } = await import('../explain/explanation.ts');
  return withStores(async ({ clock, repositories, clickhouse, quarantines, postgres }) => {
    const repository = await repositories.find(owner, name);
    if (!repository) throw new UserError(`There is no repository ${owner}/${name}.`);
    const id = await onPostgres(() => testIdNamed(postgres.db, repository.id, testName));
    const test = { id, name: testName };
    const moment = asOf === undefined ? undefined : Date.parse(asOf);
    const deps = { clickhouse, quarantines, db: postgres.db };
    return explain(deps, { repository, test, asOf: moment, now: clock.now() });
  });
}

type Identity = Explanation['identities'][number];
type Execution = Identity['evidence'][number];

/** The explanation as text. */
export function describeTest(explanation: Explanation, title: string): string {
  const { health_status, as_of, rules_version, fingerprint_version, is_complete } = explanation;
  const asOf = as_of === null ? '' : ` as of ${time(as_of)}`;
  return [
    inLog(title),
    `health: ${health_status}${asOf} (rules ${rules_version}, fingerprint ${fingerprint_version})`,
    ...whereLines(explanation),
    ...(is_complete ? [] : ['older executions were not considered: there are too many']),
    ...explanation.identities.flatMap((identity) => ['', ...describeIdentity(identity)]),
    ...explanation.quarantines.flatMap((quarantine) => ['', ...describeRecovery(quarantine)]),
  ].join('\n');
}

/** `CI / unit (os=windows)` */
function placeOf({ pipeline_name, job_name, axes }: Pick<Identity, 'pipeline_name' | 'job_name' | 'axes'>): string {
  const words = axesWords(axes);
  return `${pipeline_name} / ${job_name}${words === '' ? '' : ` (${words})`}`;
}

function describeIdentity(identity: Identity): string[] {
  const { health_status, changes_count, changes } = identity;
  const place = inLog(placeOf(identity));
  const shown = changes.slice(-CHANGES_SHOWN_MAX);
  const since = identity.since_commit === null ? '' : `, since ${inLog(identity.since_commit)}`;
  return [
    `${place}: ${health_status}${identity.is_recent ? '' : ` (does not count: it last ran more than ${HEALTH_RECENT_DAYS} days before the test's newest execution)`}`,
    `  ${health_status} with a probability of ${percent(identity.health_probability)}${since}${identity.has_enough_runs ? '' : '; its results are not enough to be sure'}`,
    `  ${count(identity.executions_count, 'execution')}, ${identity.flaky_count} flaky, ${identity.held_back_count} held back because their runs were troubled`,
    ...(changes_count > shown.length ? [`  ${count(changes_count - shown.length, 'earlier change')} not shown`] : []),
    ...(changes_count === 0 ? ['  healthy from the start: no failure that counts'] : []),
    ...shown.flatMap(({ from, to, rule, executions }) => [
      `  ${from} → ${to}: ${rule}`,
      ...executions.map((execution) => `    ${describe(execution)}`),
    ]),
    ...describeFailures(identity),
    ...describeContradictions(identity),
    ...describeFix(identity.probable_fix),
    ...(health_status === 'flaky'
      ? [`  clean passes in a row: ${identity.clean_passes}; ${neededOf(identity.clean_passes_needed)}`]
      : []),
  ];
}

const percent = (share: number): string => `${Math.round(1_000 * share) / 10}%`;
function neededOf(passes: number | null): string {
  if (passes === 0) return 'surely healthy';
  return `${passes === null ? 'more than 10,000' : passes} more make it surely healthy`;
}

function describeFix(fix: Identity['probable_fix']): string[] {
  if (fix === null) return [];
  const { commit, last_failing_commit: before, probability } = fix;
  const after = before === null ? '' : ` (it failed on ${before} before)`;
  return [`  fixed by ${inLog(`${commit}${after}`)} with a probability of ${percent(probability)}`];
}

const CAUSES: Readonly<Record<Identity['failures'][number]['cause'], string>> = {
  test: 'the test itself',
  run: 'its run',
  commit: 'a commit',
  outside: 'something outside: its commit had passed',
};

function describeFailures({ failures, failures_count }: Identity): string[] {
  if (failures_count === 0) return [];
  const shown = failures.slice(-EXECUTIONS_SHOWN_MAX);
  return [
    `  what caused its failures${failures_count > shown.length ? ` (newest ${shown.length} of ${failures_count})` : ''}:`,
    ...shown.flatMap(({ execution, cause, reason, other_legs }) => [
      `    ${describe(execution)}`,
      `      ${CAUSES[cause]}${cause === 'run' && reason !== null ? `: ${reason}` : ''}`,
      ...(other_legs ? [`      ${describeLegs(other_legs)}`] : []),
    ]),
  ];
}

function describeLegs({ passed, failed }: NonNullable<Identity['failures'][number]['other_legs']>): string {
  const alsoFailed = failed === 0 ? 'in none' : failed === 1 ? 'in one' : 'in two or more';
  return passed
    ? `on this commit, it passed in other legs, and failed ${alsoFailed}`
    : `on this commit, it failed ${alsoFailed} of its other legs, and passed in none`;
}

function describeContradictions({ contradictions, contradictions_count }: Identity): string[] {
  if (contradictions_count === 0) return [];
  const shown = contradictions.slice(-EXECUTIONS_SHOWN_MAX);
  return [
    `  commits of pull requests on which it failed and passed${contradictions_count > shown.length ? ` (newest ${shown.length} of ${contradictions_count})` : ''}:`,
    ...shown.flatMap(({ execution, is_evidence, reason }) => [
      `    ${describe(execution)}`,
      `      ${is_evidence ? 'shows that it is flaky' : `its run explains it${reason === null ? '' : `: ${reason}`}`}`,
    ]),
  ];
}

type Recovery = Explanation['quarantines'][number];

/** `every branch, CI job unit, until 2026-12-24T18:00:00Z`. */
function extentOf({ branch, pipeline_name, job_name, failure_ids, expires_at }: Recovery): string {
  const parts = [branch ?? 'every branch'];
  if (pipeline_name !== null) parts.push(`pipeline ${pipeline_name}`);
  if (job_name !== null) parts.push(`CI job ${job_name}`);
  if (failure_ids !== null) parts.push(count(failure_ids.length, 'failure group'));
  if (expires_at !== null) parts.push(`until ${time(expires_at)}`);
  return parts.join(', ');
}

function describeRecovery(recovery: Recovery): string[] {
  const { created_at, source, reason } = recovery;
  return [
    `quarantined ${time(created_at)} (${source}, ${inLog(extentOf(recovery))}): ${inLog(reason)}`,
    `  ${recovery.is_recovered ? 'recovered: every identity is surely healthy and has' : 'not recovered: every identity must be surely healthy and have'} run for three days since`,
    ...recovery.identities.map(
      ({ health_status, clean_passes, clean_passes_needed, ...leg }) =>
        `  ${inLog(placeOf(leg))}: ${health_status}, clean passes since then: ${clean_passes}; ${neededOf(clean_passes_needed)}`,
    ),
  ];
}

function describe({ status, run_id, run_attempt, commit, job_url, pull_request, ...times }: Execution): string {
  const pull = pull_request === null ? '' : ` of pull request ${pull_request}`;
  const late = times.is_stored_later ? `, stored later (${time(times.received_at)})` : '';
  const url = job_url === null ? '' : `, ${job_url}`;
  return inLog(
    `${time(times.finished_at)} ${status}, run ${run_id ?? '(unknown)'} attempt ${run_attempt}, commit ${commit ?? '(unknown)'}${pull}${url}${late}`,
  );
}

const time = (at: string): string => at.replace(/\.\d+Z$/, 'Z');

/** Nothing of a test whose legs are not told apart. */
const whereLines = ({ fails_with: where }: Pick<Explanation, 'fails_with'>): string[] =>
  where === null || where.kind === 'unknown' ? [] : [`where: ${inLog(where.sentence)}`];
