/**
 * The explanation of a test as a document: what the API answers, and what `ci-insights explain` prints. Long lists are
 * cut to their newest entries, and their length is given beside them. Fields are only ever added.
 */

import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { runKeyOf } from '../domain/execution.ts';
import { FINGERPRINT_VERSION } from '../domain/fingerprint.ts';
import type { Hold, Trouble } from '../domain/infrastructure.ts';
import {
  JUDGEMENT_VERSION,
  OUTAGE_SHARE_MIN,
  TROUBLE_SHARE_MIN,
  TROUBLE_TESTS_MIN,
} from '../domain/judgement-constants.ts';
import { formatMoment } from '../domain/moment.ts';
import { HEALTHS, STATUSES, worstHealth } from '../domain/status.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import type { Turn } from '../fair-queue.ts';
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
  })
  .meta({ id: 'ExplainedExecution' });

const trouble = z.enum(['partial', 'total']).meta({ example: 'total' });
const reason = z.string().meta({
  description: 'In words',
  example: 'at least 90 % of the run failed, among it 10 tests or more that had passed before',
});

const identity = z.object({
  pipeline_name: z.string().meta({ example: 'CI' }),
  job_name: z.string().meta({ example: 'unit' }),
  health_status: health,
  is_recent: z.boolean().meta({
    description: "Whether it ran within 14 days before the test's newest execution, so that its health counts",
    example: true,
  }),
  executions_count: count('Passed and failed executions that were considered', 12),
  flaky_count: count('Of these, flaky ones'),
  held_back_count: count('Of these, failures that are no evidence, because their run was troubled', 0),
  clean_passes: count('Clean passes in a row', 3),
  clean_passes_needed: count('How many a flaky test needs to become healthy', 10),
  changes_count: count('Changes of health'),
  changes: z
    .array(
      z.object({
        from: health,
        to: health,
        rule: z.string().meta({
          description: 'The rule in words',
          example: 'a flaky execution (the same commit passed in another attempt or run)',
        }),
        executions: z
          .array(execution)
          .meta({ description: 'Those that decided; last, the one that caused the change' }),
      }),
    )
    .meta({ description: `The newest ${CHANGES_MAX}, oldest first` }),
  held_back: z
    .array(z.object({ execution, trouble, reason }))
    .meta({ description: `The newest ${LISTED_MAX}, oldest first` }),
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
      clean_passes_needed: count('How many it needs', 10),
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
    testId: test.id,
    isFlakyDetectionEnabled: repository.flakyDetectionEnabled,
    // Clocks of producers may be ahead.
    asOf: asOf ?? now + DAY_MS,
  };
  const identities = await explainTest(clickhouse, options);
  const open = identities.length === 0 ? [] : await deps.quarantines.ofTests(repository.id, [test.id]);
  const recoveries = await explainRecovery(clickhouse, options, identities, open);
  return documentOf({ test, asOf, identities, recoveries });
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
    health_status: worstHealth(identities.filter((one) => one.isRecent).map((one) => one.state.health)),
    is_complete: executions < EXECUTIONS_MAX,
    identities: identities.map((one) => identityOf(one, asOf)),
    quarantines: recoveries.map(recoveryDocument),
  };
}

function identityOf(
  { state, isRecent, executions, steps, judged, troubles, ...place }: IdentityExplanation,
  asOf: number | undefined,
): Explanation['identities'][number] {
  const held = executions.filter(({ executionId }) => judged.heldBack.has(executionId));
  return {
    pipeline_name: place.pipelineName,
    job_name: place.jobName,
    health_status: state.health,
    is_recent: isRecent,
    executions_count: executions.length,
    flaky_count: judged.flaky.size,
    held_back_count: judged.heldBack.size,
    clean_passes: state.cleanPasses,
    clean_passes_needed: state.cleanPassesNeeded,
    changes_count: steps.length,
    changes: steps.slice(-CHANGES_MAX).map(({ from, to, rule, executions: deciding }) => ({
      from,
      to,
      rule,
      executions: deciding.map((one) => executionOf(one, asOf)),
    })),
    held_back: held.slice(-LISTED_MAX).map((one) => {
      const found = troubleOf(troubles, one);
      const hold = judged.holds.get(one.executionId);
      return { execution: executionOf(one, asOf), trouble: found, reason: `${TROUBLES[found]}; ${holdReason(hold)}` };
    }),
    troubled_runs: troubledRunsOf(executions, troubles).slice(-LISTED_MAX),
  };
}

/** Each troubled run once, in the order of the executions. */
function troubledRunsOf(executions: readonly ExplainedExecution[], troubles: ReadonlyMap<string, Trouble>) {
  const runs = new Map<string, Explanation['identities'][number]['troubled_runs'][number]>();
  for (const one of executions) {
    if (!troubles.has(runKeyOf(one))) continue;
    const found = troubleOf(troubles, one);
    runs.set(runKeyOf(one), {
      day: formatMoment(dayOf(one.finishedAt) * DAY_MS).slice(0, 10),
      run_id: one.runId || null,
      run_attempt: one.runAttempt,
      trouble: found,
      reason: TROUBLES[found],
    });
  }
  return [...runs.values()];
}

const troubleOf = (troubles: ReadonlyMap<string, Trouble>, one: ExplainedExecution): 'partial' | 'total' =>
  troubles.get(runKeyOf(one)) === 'total' ? 'total' : 'partial';

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const AMONG = `among it ${TROUBLE_TESTS_MIN} tests or more that had passed before`;
const TROUBLES = {
  partial: `at least ${percent(TROUBLE_SHARE_MIN)} of the run failed, ${AMONG}`,
  total: `at least ${percent(OUTAGE_SHARE_MIN)} of the run failed, ${AMONG}`,
} as const;
const holdReason = (hold: Hold | undefined): string =>
  hold === 'pending' ? 'no later run has decided yet' : 'no later run confirmed it';

const executionOf = (one: ExplainedExecution, asOf: number | undefined) => ({
  status: one.status,
  finished_at: formatMoment(one.finishedAt),
  received_at: one.receivedAt === 0 ? null : formatMoment(one.receivedAt),
  is_stored_later: asOf !== undefined && one.receivedAt > asOf,
  run_id: one.runId || null,
  run_attempt: one.runAttempt,
  commit: one.commit || null,
  job_url: one.jobUrl || null,
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
