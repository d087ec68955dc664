/**
 * The explanation of a test as a document: what the API answers, and what `ci-insights explain` prints. Long lists are
 * cut to their newest entries, and their length is given beside them. Fields are only ever added.
 */

import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { CAUSES } from '../domain/belief.ts';
import { runKeyOf } from '../domain/execution.ts';
import { FINGERPRINT_VERSION } from '../domain/fingerprint.ts';
import { LEVELS } from '../domain/health-confidence.ts';
import { JUDGEMENT_VERSION } from '../domain/judgement-constants.ts';
import { formatMoment } from '../domain/moment.ts';
import { HEALTHS, STATUSES, worstHealth } from '../domain/status.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import { TROUBLES } from '../domain/troubled-run.ts';
import type { Turn } from '../fair-queue.ts';
import type { Database } from '../postgres/client.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import {
  EXECUTIONS_MAX,
  type ExplainedExecution,
  explainRecovery,
  explainTest,
  type IdentityExplanation,
  type RecoveryExplanation,
} from './explain.ts';

/** The newest changes of health, and the newest executions of a list, that an explanation holds. */
const CHANGES_MAX = 20;
const LISTED_MAX = 20;

const moment = z.iso.datetime().meta({ example: '2026-11-21T09:30:00.000Z' });
const health = z.enum(HEALTHS).meta({ example: 'flaky' });
const count = (description: string, example = 1) => z.int().min(0).meta({ description, example });

const execution = z
  .object({
    status: z.enum(STATUSES).meta({ example: 'failed' }),
    finished_at: moment,
    received_at: moment.nullable().meta({ description: 'When it was stored; null if that was not recorded' }),
    is_stored_later: z
      .boolean()
      .meta({ description: 'Whether it was stored after `as_of`, so that it was not known then', example: false }),
    run_id: z.string().nullable().meta({ example: '1001' }),
    run_attempt: z.int().meta({ example: 1 }),
    commit: z.string().nullable().meta({ example: '1f3a9c2' }),
    job_url: z.string().nullable().meta({ example: 'https://ci.acme.example/jobs/1001' }),
    pull_request: z
      .int()
      .nullable()
      .meta({ description: 'Null on the default branch, and where none is known', example: null }),
  })
  .meta({ id: 'ExplainedExecution' });

const trouble = z.enum(TROUBLES).meta({ example: 'total' });
const reason = z.string().meta({
  description: 'In words',
  example: '200 of 212 executions failed unexpectedly: a healthy test fails in this run with a probability of 92 %',
});
const probability = (description: string, example: number) => z.number().min(0).max(1).meta({ description, example });

const identity = z.object({
  pipeline_name: z.string().meta({ example: 'CI' }),
  job_name: z.string().meta({ example: 'unit' }),
  health_status: health,
  health_confidence: z
    .enum(LEVELS)
    .meta({ description: 'How sure the health is, by its probability', example: 'high' }),
  health_probability: probability('How likely the health is right', 0.983),
  has_enough_runs: z.boolean().meta({
    description: 'False: the health is what is likeliest, but there are not enough runs to know',
    example: true,
  }),
  probabilities: z.object({
    healthy: probability('How likely the test is healthy', 0.015),
    flaky: probability('How likely it is flaky', 0.983),
    broken: probability('How likely it is broken', 0.002),
  }),
  flaky_rate: probability('How often it fails on its own if it is flaky', 0.05),
  since_commit: z.string().nullable().meta({
    description: 'The commit of the first execution that decides: since when it is flaky or broken, as far as is known',
    example: '1f3a9c2',
  }),
  is_recent: z.boolean().meta({
    description: "Whether it ran within 14 days before the test's newest execution, so that its health counts",
    example: true,
  }),
  executions_count: count('Passed and failed executions that were considered', 12),
  flaky_count: count('Of these, flaky ones'),
  held_back_count: count('Of these, failures that are no evidence, because their run caused them', 0),
  clean_passes: count('Clean passes in a row', 3),
  clean_passes_needed: z
    .int()
    .min(0)
    .nullable()
    .meta({ description: 'How many in a row make it surely healthy; null: more than 10,000', example: 210 }),
  changes_count: count('Changes of health'),
  changes: z
    .array(
      z.object({
        from: health,
        to: health,
        rule: z.string().meta({
          description: 'What decided, in words',
          example: 'flaky with a probability of 91.4 %: its own failures on 2 commits',
        }),
        probability: probability('How likely the new health was right then', 0.914),
        executions: z
          .array(execution)
          .meta({ description: 'Those that decided; last, the one that caused the change' }),
      }),
    )
    .meta({ description: `The newest ${CHANGES_MAX}, oldest first` }),
  evidence: z
    .array(execution)
    .meta({ description: 'The executions on which the health rests now, oldest first; of a healthy test none' }),
  failures_count: count('Failures, and passes after failed attempts'),
  failures: z
    .array(
      z.object({
        execution,
        cause: z.enum(CAUSES).meta({
          description:
            'What caused it, by what is known now: the `test` (it is flaky), its `run`, a `commit` that broke the test, or the world `outside` (it broke on a commit that had passed)',
          example: 'test',
        }),
        is_flaky: z.boolean().meta({ description: 'Whether it counts as a flaky execution', example: true }),
        trouble,
        reason: reason.nullable(),
      }),
    )
    .meta({ description: `What went wrong and what caused it: the newest ${LISTED_MAX}, oldest first` }),
  held_back: z
    .array(z.object({ execution, trouble, reason }))
    .meta({ description: `Of all failures, those that their run caused: the newest ${LISTED_MAX}, oldest first` }),
  contradictions_count: count(
    'Commits off the default branch on which the test failed, and passed in another attempt or after failed attempts',
    0,
  ),
  contradictions: z
    .array(
      z.object({
        execution: execution.meta({ description: 'What failed, or passed after failed attempts' }),
        at: moment.meta({ description: 'When both results were there' }),
        is_evidence: z
          .boolean()
          .meta({ description: 'Whether it shows that the test is flaky. False: its run explains it', example: true }),
        trouble,
        reason: reason.nullable(),
      }),
    )
    .meta({
      description: `Evidence that the test is flaky, and never that it is broken: the newest ${LISTED_MAX}, oldest first`,
    }),
  troubled_runs: z
    .array(
      z.object({
        day: z.iso.date().meta({ example: '2026-11-21' }),
        run_id: z.string().nullable().meta({ example: '1001' }),
        run_attempt: z.int().meta({ example: 1 }),
        trouble,
        reason,
      }),
    )
    .meta({ description: `Troubled runs in which the test failed: the newest ${LISTED_MAX}, oldest first` }),
});

const recovery = z.object({
  quarantine_id: z.guid().meta({ example: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
  source: z.string().meta({ example: 'manual' }),
  branch: z.string().nullable().meta({ example: null }),
  pipeline_name: z.string().nullable().meta({ example: null }),
  job_name: z.string().nullable().meta({ example: null }),
  failure_ids: z.array(z.guid()).nullable().meta({ example: null }),
  expires_at: moment.nullable().meta({ description: 'When it ends automatically; null: never' }),
  reason: z.string().meta({ example: 'rounds at midnight' }),
  created_at: moment,
  is_recovered: z.boolean().meta({ example: false }),
  identities: z.array(
    z.object({
      pipeline_name: z.string().meta({ example: 'CI' }),
      job_name: z.string().meta({ example: 'unit' }),
      health_status: health,
      clean_passes: count('Clean passes since the quarantine', 3),
      clean_passes_needed: z
        .int()
        .min(0)
        .nullable()
        .meta({ description: 'How many make it surely healthy; null: more than 10,000', example: 210 }),
    }),
  ),
});

export const explanationSchema = z
  .object({
    test_id: z.guid().meta({ example: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11' }),
    test_name: z.string().meta({ example: 'Cart > totals > sums [a, b] with 10% tax' }),
    as_of: moment.nullable().meta({ description: 'The moment that was asked for; null: everything stored so far' }),
    rules_version: z.int().meta({ description: 'Version of the rules that were applied', example: 1 }),
    fingerprint_version: z.int().meta({ example: 3 }),
    health_status: health.meta({ description: 'The worst health of the recent identities' }),
    is_complete: z.boolean().meta({
      description: `False: the test has more executions, and only its newest ${EXECUTIONS_MAX.toLocaleString('en-US')} were considered`,
      example: true,
    }),
    identities: z.array(identity).meta({ description: 'Newest first; empty if nothing had passed or failed by then' }),
    quarantines: z.array(recovery).meta({ description: 'Open quarantines that were made by then' }),
  })
  .meta({ id: 'Explanation' });

export type Explanation = z.infer<typeof explanationSchema>;

export interface ExplanationDeps {
  clickhouse: ClickHouse;
  db: Database;
  quarantines: QuarantineStore;
}

export interface ExplanationInput {
  repository: { id: string; flakyDetectionEnabled: boolean };
  test: { id: string; name: string };
  /** Milliseconds since the epoch; undefined: now. */
  asOf: number | undefined;
  now: number;
  /** On whose behalf ClickHouse is read; undefined for the service's own commands. */
  turn?: Turn;
}

/** Explains a test from its retained executions on the default branch. */
export async function explain(
  deps: ExplanationDeps,
  { repository, test, asOf, now, turn }: ExplanationInput,
): Promise<Explanation> {
  const clickhouse = turn ? inTurn(deps.clickhouse, turn) : deps.clickhouse;
  const options = {
    repositoryId: repository.id,
    test,
    isFlakyDetectionEnabled: repository.flakyDetectionEnabled,
    // Clocks of producers may be ahead.
    asOf: asOf ?? now + DAY_MS,
  };
  const identities = await explainTest({ clickhouse, db: deps.db }, options);
  const open = identities.length === 0 ? [] : await deps.quarantines.ofTests(repository.id, [test.id]);
  return documentOf({ test, asOf, identities, recoveries: explainRecovery(options, identities, open) });
}

/** The same ClickHouse, whose queries take their turns. */
const inTurn = (clickhouse: ClickHouse, turn: Turn): ClickHouse => ({
  select: (query, params) => clickhouse.select(query, params, turn),
  rows: (sql, params) => clickhouse.rows(sql, params),
  command: (sql, params) => clickhouse.command(sql, params),
  insert: (table, lines, token) => clickhouse.insert(table, lines, token),
  ping: () => clickhouse.ping(),
  close: () => clickhouse.close(),
});

interface Explained extends Pick<ExplanationInput, 'test' | 'asOf'> {
  /** Newest first. */
  identities: readonly IdentityExplanation[];
  recoveries: readonly RecoveryExplanation[];
}

function documentOf({ test, asOf, identities, recoveries }: Explained): Explanation {
  const executions = identities.reduce((sum, one) => sum + one.executions.length, 0);
  return {
    test_id: test.id,
    test_name: test.name,
    as_of: asOf === undefined ? null : formatMoment(asOf),
    rules_version: JUDGEMENT_VERSION,
    fingerprint_version: FINGERPRINT_VERSION,
    health_status: worstHealth(identities.filter((one) => one.isRecent).map((one) => one.health)),
    is_complete: executions < EXECUTIONS_MAX,
    identities: identities.map((one) => identityOf(one, asOf)),
    quarantines: recoveries.map(recoveryDocument),
  };
}

function identityOf(one: IdentityExplanation, asOf: number | undefined): Explanation['identities'][number] {
  const shown = (execution: ExplainedExecution) => executionOf(execution, asOf);
  const held = one.failures.filter(({ cause }) => cause === 'run');
  return {
    pipeline_name: one.pipelineName,
    job_name: one.jobName,
    health_status: one.health,
    health_confidence: one.confidence,
    health_probability: one.probability ?? 0,
    has_enough_runs: one.hasEnoughRuns,
    probabilities: {
      healthy: rounded(one.probabilities.healthy),
      flaky: rounded(one.probabilities.flaky),
      broken: rounded(one.probabilities.broken),
    },
    flaky_rate: rounded(one.probabilities.flakyRate),
    since_commit: one.evidence[0]?.commit || null,
    is_recent: one.isRecent,
    executions_count: one.executions.length,
    flaky_count: one.failures.filter(({ isFlaky }) => isFlaky).length,
    held_back_count: held.length,
    clean_passes: one.cleanPasses,
    clean_passes_needed: one.cleanPassesNeeded,
    changes_count: one.steps.length,
    changes: one.steps.slice(-CHANGES_MAX).map((step) => ({
      from: step.from,
      to: step.to,
      rule: ruleOf(step),
      probability: rounded(step.probability),
      executions: step.executions.map(shown),
    })),
    evidence: one.evidence.map(shown),
    failures_count: one.failures.length,
    failures: one.failures.slice(-LISTED_MAX).map(({ execution: failed, cause, isFlaky, run }) => ({
      execution: shown(failed),
      cause,
      is_flaky: isFlaky,
      ...run,
    })),
    held_back: held.slice(-LISTED_MAX).map(({ execution: failed, run }) => ({
      execution: shown(failed),
      trouble: run.trouble,
      reason: run.reason ?? NO_REASON,
    })),
    contradictions_count: one.contradictions.length,
    contradictions: one.contradictions.slice(-LISTED_MAX).map(({ execution: failed, at, isEvidence, run }) => ({
      execution: shown(failed),
      at: formatMoment(at),
      is_evidence: isEvidence,
      ...run,
    })),
    troubled_runs: troubledRunsOf(one.failures).slice(-LISTED_MAX),
  };
}

/** Where too few other tests run, trouble that hits this one alone is as likely as anything. */
const NO_REASON = 'nothing else tells its run from the test';

const rounded = (share: number): number => Math.round(1_000 * share) / 1_000;
/** Rounded down: 100 % is never true. */
const percent = (share: number): string => `${Math.floor(1_000 * share) / 10} %`;

function ruleOf({ from, to, probability: share, breaker, executions }: IdentityExplanation['steps'][number]): string {
  const said = `${to} with a probability of ${percent(share)}`;
  if (to === 'flaky') {
    const commits = new Set(executions.map(({ commit }) => commit)).size;
    return `${said}: its own failures on ${commits === 1 ? 'one commit' : `${commits} commits`}`;
  }
  if (to === 'healthy') return `${said}: passed since`;
  const cause =
    breaker === 'outside' ? 'something other than the commit, which had passed, broke it' : 'a commit broke it';
  return `${said}: ${from === 'flaky' ? 'it fails more than it did, and ' : ''}${cause}`;
}

/** Each troubled run once, in the order of the executions. */
function troubledRunsOf(failures: IdentityExplanation['failures']) {
  const runs = new Map<string, Explanation['identities'][number]['troubled_runs'][number]>();
  for (const { execution: failed, run } of failures)
    if (run.trouble !== 'none')
      runs.set(runKeyOf(failed), {
        day: formatMoment(dayOf(failed.finishedAt) * DAY_MS).slice(0, 10),
        run_id: failed.runId || null,
        run_attempt: failed.runAttempt,
        trouble: run.trouble,
        reason: run.reason ?? NO_REASON,
      });
  return [...runs.values()];
}

const executionOf = (one: ExplainedExecution, asOf: number | undefined) => ({
  status: one.status,
  finished_at: formatMoment(one.finishedAt),
  received_at: one.receivedAt === 0 ? null : formatMoment(one.receivedAt),
  is_stored_later: asOf !== undefined && one.receivedAt > asOf,
  run_id: one.runId || null,
  run_attempt: one.runAttempt,
  commit: one.commit || null,
  job_url: one.jobUrl || null,
  pull_request: one.pullRequest || null,
});

const recoveryDocument = ({ quarantine, isRecovered, identities }: RecoveryExplanation) => ({
  quarantine_id: quarantine.id,
  source: quarantine.source,
  branch: quarantine.branch,
  pipeline_name: quarantine.pipelineName,
  job_name: quarantine.jobName,
  failure_ids: quarantine.failureIds,
  expires_at: quarantine.expiresAt && formatMoment(quarantine.expiresAt.getTime()),
  reason: quarantine.reason,
  created_at: formatMoment(quarantine.createdAt.getTime()),
  is_recovered: isRecovered,
  identities: identities.map(({ pipelineName, jobName, health: status, cleanPasses, cleanPassesNeeded }) => ({
    pipeline_name: pipelineName,
    job_name: jobName,
    health_status: status,
    clean_passes: cleanPasses,
    clean_passes_needed: cleanPassesNeeded,
  })),
});
