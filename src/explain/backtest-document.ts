/** The report of a backtest as a document. Fields are only ever added. */
import { mostAtOnce, type ReplayedQuarantine } from '../domain/backtest.ts';
import type { BacktestPolicy } from '../domain/backtest-policy.ts';
import { type BacktestReport, LISTED_MAX } from '../domain/backtest-report.ts';
import { JUDGEMENT_VERSION } from '../domain/judgement-constants.ts';
import { formatMoment } from '../domain/moment.ts';
import type { RedRunCounts } from '../domain/red-runs.ts';
import { HOUR_MS } from '../domain/time.ts';
import type { HiddenRegression, ReplayedTest } from './backtest-replay.ts';

interface Found {
  policy: BacktestPolicy;
  until: number;
  tests: readonly ReplayedTest[];
  runs: RedRunCounts;
}

type Test = Pick<ReplayedTest, 'id' | 'name'>;

export function reportOf({ policy, until, tests, runs }: Found): BacktestReport {
  const quarantines = tests.flatMap((test) => test.quarantines.map((quarantine) => ({ test, quarantine })));
  const hidden = tests.flatMap((test) => test.hidden.map((regression) => ({ test, regression })));
  const documents = quarantines.map(({ test, quarantine }) => quarantineOf(test, quarantine, { until, runs }));
  return {
    policy,
    until: formatMoment(until),
    rules_version: JUDGEMENT_VERSION,
    is_complete: tests.every(({ isCut }) => !isCut),
    tests: tests.length,
    quarantines_count: quarantines.length,
    quarantines_at_once: mostAtOnce(quarantines.map(({ quarantine }) => quarantine)),
    red_runs: runs.red,
    red_runs_spared: runs.spared,
    default_branch_red_runs: runs.redOnDefault,
    default_branch_red_runs_spared: runs.sparedOnDefault,
    hidden_regressions_count: hidden.length,
    quarantines: documents
      .sort((a, b) => b.spared_red_runs - a.spared_red_runs || (a.quarantined_at < b.quarantined_at ? -1 : 1))
      .slice(0, LISTED_MAX),
    hidden_regressions: hidden
      .sort((a, b) => b.regression.firstFailedAt - a.regression.firstFailedAt)
      .slice(0, LISTED_MAX)
      .map(({ test, regression }) => regressionOf(test, regression)),
  };
}

function quarantineOf(
  { id, name, hidden }: Test & Pick<ReplayedTest, 'hidden'>,
  quarantine: ReplayedQuarantine,
  { until, runs }: Pick<Found, 'until' | 'runs'>,
): BacktestReport['quarantines'][number] {
  const { reason, failureIds, from } = quarantine;
  return {
    test_id: id,
    test_name: name,
    reason,
    failure_ids: failureIds && [...failureIds].sort(),
    quarantined_at: formatMoment(from),
    recovered_at: quarantine.until === null ? null : formatMoment(quarantine.until),
    hours: Math.round((10 * ((quarantine.until ?? until) - from)) / HOUR_MS) / 10,
    spared_red_runs: runs.by.get(quarantine) ?? 0,
    hidden_regressions: hidden.filter((one) => one.quarantine === quarantine).length,
  };
}

function regressionOf({ id, name }: Test, found: HiddenRegression): BacktestReport['hidden_regressions'][number] {
  const ends = [found.fixedAt, found.quarantine.until].filter((at) => at !== null);
  return {
    test_id: id,
    test_name: name,
    kind: found.kind,
    pipeline_name: found.pipelineName,
    job_name: found.jobName,
    failure_id: found.failureIds[0] ?? null,
    commit: found.commit || null,
    commits: found.commits,
    first_failed_at: formatMoment(found.firstFailedAt),
    last_failed_at: formatMoment(found.lastFailedAt),
    fixed_at: found.fixedAt === null ? null : formatMoment(found.fixedAt),
    fixed_by: found.fixedBy,
    hidden_until: ends.length === 0 ? null : formatMoment(Math.min(...ends)),
  };
}
