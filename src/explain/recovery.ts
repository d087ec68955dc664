/** How far a test is from being surely healthy, as a document: what the API answers. */
import { axesOf } from '../domain/axes.ts';
import { RECOVERY_MS_MIN } from '../domain/judgement-constants.ts';
import { formatMoment } from '../domain/moment.ts';
import { passesUntilHealthy } from '../domain/passes-until-healthy.ts';
import { worstHealth } from '../domain/status.ts';
import { EXECUTIONS_MAX, explainTest, type IdentityExplanation } from './explain.ts';
import { explainRecovery } from './explain-recovery.ts';
import {
  type ExplanationDeps,
  type ExplanationInput,
  explanationOptions,
  fixDocument,
  inTurn,
  rounded,
} from './explanation.ts';
import type { Recovery } from './recovery-schema.ts';

/** @param confidence how likely every leg must be healthy. */
export async function recoveryOf(
  deps: ExplanationDeps,
  input: Omit<ExplanationInput, 'asOf'>,
  confidence: number,
): Promise<Recovery> {
  const { repository, test, turn } = input;
  const clickhouse = turn ? inTurn(deps.clickhouse, turn) : deps.clickhouse;
  const options = explanationOptions({ ...input, asOf: undefined });
  const identities = await explainTest({ clickhouse, db: deps.db }, options);
  const open = await deps.quarantines.ofTests(repository.id, [test.id]);
  const counted = identities.filter(({ isRecent }) => isRecent);
  const needed = counted.map(({ belief, pace }) => passesUntilHealthy(belief, pace, confidence));
  const executions = identities.reduce((sum, one) => sum + one.executions.length, 0);
  return {
    test_id: test.id,
    test_name: test.name,
    health_status: worstHealth(counted.map(({ health }) => health)),
    confidence,
    is_surely_healthy: counted.length > 0 && needed.every((passes) => passes === 0),
    clean_passes_needed: all(needed, (passes) => passes.reduce((sum, one) => sum + one, 0)),
    clean_runs_needed: all(needed, (passes) => Math.max(0, ...passes)),
    probable_fix: fixOfTest(counted),
    is_complete: executions < EXECUTIONS_MAX,
    legs: counted.map((leg, i) => ({
      pipeline_name: leg.pipelineName,
      job_name: leg.jobName,
      axes: axesOf(leg.axes),
      health_status: leg.health,
      healthy_probability: rounded(leg.probabilities.healthy),
      clean_passes: leg.cleanPasses,
      clean_passes_needed: needed[i] ?? null,
      probable_fix: fixDocument(leg.fix),
    })),
    quarantines: explainRecovery(options, identities, open).map(({ quarantine, isRecovered }) => ({
      quarantine_id: quarantine.id,
      is_recovered: isRecovered,
      recovers_from: formatMoment(quarantine.createdAt.getTime() + RECOVERY_MS_MIN),
    })),
  };
}

/** Null if any leg needs more than anyone waits for. */
function all(needed: readonly (number | null)[], sum: (passes: readonly number[]) => number): number | null {
  const known = needed.filter((passes) => passes !== null);
  return known.length < needed.length ? null : sum(known);
}

/** The test is fixed when its last leg is: the latest fix, if there is one for every leg that failed. */
function fixOfTest(legs: readonly IdentityExplanation[]): Recovery['probable_fix'] {
  const failed = legs.filter(({ failures }) => failures.some(({ cause }) => cause !== 'run'));
  const fixes = failed.map(({ fix }) => fix).filter((fix) => fix !== null);
  if (fixes.length < failed.length) return null;
  return fixDocument(fixes.toSorted((one, other) => other.at - one.at)[0] ?? null);
}
