/** Prometheus itself says that each alert fires when it should, and is silent when all is well. */
import { afterAll, expect, test } from 'bun:test';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { machine, run } from '../clients/support/run.ts';
import { makeFolder } from '../support/folder.ts';

const ALERTS = resolve(import.meta.dir, '../../docs/alerts.yaml');
const promtool = Bun.which('promtool');
if (promtool === null) {
  if (process.env.CI === 'true') throw new Error('promtool is missing: in CI nothing is skipped');
  console.error('skipped: whether alerts fire, because there is no promtool here');
}

/** Values of a series, one a minute: `0x5` is 0 six times, `0+2x5` is 0, 2, 4 and so on. */
type Series = Readonly<Record<string, string>>;

const ROUTE = 'method="GET",route="/v1/ci/{owner}"';
/** For each alert: after so many minutes it fires with the first series, and with the second it does not. */
const CASES: Readonly<Record<string, { minutes: number; ill: Series; well: Series }>> = {
  CiInsightsDown: {
    minutes: 5,
    ill: { 'up{job="ci-insights",instance="a"}': '0x10' },
    well: { 'up{job="ci-insights",instance="a"}': '0 1x10', 'up{job="other"}': '0x10' },
  },
  CiInsightsRestarts: {
    minutes: 20,
    ill: { 'process_start_time_seconds{job="ci-insights"}': '1 2 3 4 5 6x20' },
    // A rolling restart, and one more.
    well: { 'process_start_time_seconds{job="ci-insights"}': '1 2 3x20' },
  },
  CiInsightsStoreDown: {
    minutes: 5,
    ill: { 'ci_insights_store_up{store="queue",instance="a"}': '0x10' },
    // One process does not reach it.
    well: {
      'ci_insights_store_up{store="queue",instance="a"}': '0x10',
      'ci_insights_store_up{store="queue",instance="b"}': '1x10',
    },
  },
  CiInsightsDiskFull: {
    minutes: 20,
    ill: {
      'ci_insights_disk_free_bytes{store="clickhouse",disk="default"}': '9x25',
      'ci_insights_disk_total_bytes{store="clickhouse",disk="default"}': '100x25',
    },
    well: {
      'ci_insights_disk_free_bytes{store="clickhouse",disk="default"}': '11x25',
      'ci_insights_disk_total_bytes{store="clickhouse",disk="default"}': '100x25',
    },
  },
  CiInsightsUploadsPossiblyLost: {
    minutes: 8,
    ill: { 'ci_insights_uploads_possibly_lost_total{kind="upload"}': '0x5 1x10' },
    well: { 'ci_insights_uploads_possibly_lost_total{kind="upload"}': '3x20' },
  },
  CiInsightsUploadsNotKept: {
    minutes: 12,
    ill: { ci_insights_uploads_not_kept_total: '0x3 1+1x15' },
    well: { ci_insights_uploads_not_kept_total: '2x20', ci_insights_uploads_kept_waiting_seconds: '90x20' },
  },
  CiInsightsUploadsWait: {
    minutes: 10,
    ill: { 'ci_insights_upload_wait_seconds{instance="a"}': '4x15' },
    well: { 'ci_insights_upload_wait_seconds{instance="a"}': '4 4 1x15' },
  },
  CiInsightsQueueLag: {
    minutes: 10,
    ill: { 'ci_insights_queue_lag_seconds{queue="test-runs"}': '301x15' },
    well: { 'ci_insights_queue_lag_seconds{queue="test-runs"}': '299x15' },
  },
  CiInsightsQueueGrows: {
    minutes: 20,
    ill: { 'ci_insights_queue_drain_seconds{queue="test-runs"}': '4000x25' },
    well: { 'ci_insights_queue_drain_seconds{queue="test-runs"}': '600x25' },
  },
  CiInsightsQueueNotWorked: {
    minutes: 25,
    ill: {
      'ci_insights_queue_jobs{queue="test-runs",state="waiting"}': '5x30',
      'ci_insights_jobs_total{queue="test-runs",outcome="done"}': '7x30',
    },
    well: {
      'ci_insights_queue_jobs{queue="test-runs",state="waiting"}': '5x30',
      'ci_insights_jobs_total{queue="test-runs",outcome="done"}': '0+2x30',
    },
  },
  CiInsightsJobsOutOfTries: {
    minutes: 2,
    ill: { 'ci_insights_queue_jobs{queue="test-runs",state="failed"}': '1x5' },
    well: { 'ci_insights_queue_jobs{queue="test-runs",state="failed"}': '0x5' },
  },
  CiInsightsDeadLetters: {
    minutes: 30,
    ill: { 'ci_insights_dead_letters_total{queue="test-runs"}': '0x10 1x60' },
    well: { 'ci_insights_dead_letters_total{queue="test-runs"}': '4x70' },
  },
  CiInsightsCommentsFailing: {
    minutes: 65,
    ill: { ci_insights_pull_comments_failing: '2x70' },
    well: { ci_insights_pull_comments_failing: '2x50 0x20' },
  },
  CiInsightsInsertsRefused: {
    minutes: 5,
    ill: { ci_insights_inserts_refused_seconds: '0+60x10' },
    well: { ci_insights_inserts_refused_seconds: '30x10' },
  },
  CiInsightsBlocksUnstored: {
    minutes: 15,
    ill: { 'ci_insights_blocks_unfinished{state="unstored"}': '3x20' },
    well: {
      'ci_insights_blocks_unfinished{state="unstored"}': '3x5 0x15',
      'ci_insights_blocks_unfinished{state="unevaluated"}': '3x20',
    },
  },
  CiInsightsEvaluationLag: {
    minutes: 10,
    ill: { ci_insights_evaluation_lag_seconds: '121x15' },
    well: { ci_insights_evaluation_lag_seconds: '20x15' },
  },
  CiInsightsRelayLag: {
    minutes: 10,
    ill: { ci_insights_relay_lag_seconds: '61x15' },
    well: { ci_insights_relay_lag_seconds: '5x15' },
  },
  CiInsightsErrors: {
    minutes: 15,
    ill: {
      'ci_insights_http_request_duration_seconds_count{status="5xx"}': '0+3x20',
      'ci_insights_http_request_duration_seconds_count{status="2xx"}': '0+97x20',
    },
    well: {
      'ci_insights_http_request_duration_seconds_count{status="5xx"}': '0+1x20',
      'ci_insights_http_request_duration_seconds_count{status="2xx"}': '0+99x20',
    },
  },
  CiInsightsSlowReads: {
    minutes: 30,
    ill: {
      [`ci_insights_http_request_duration_seconds_bucket{${ROUTE},le="1"}`]: '0+90x40',
      [`ci_insights_http_request_duration_seconds_bucket{${ROUTE},le="5"}`]: '0+100x40',
      [`ci_insights_http_request_duration_seconds_bucket{${ROUTE},le="+Inf"}`]: '0+100x40',
    },
    well: {
      [`ci_insights_http_request_duration_seconds_bucket{${ROUTE},le="1"}`]: '0+100x40',
      [`ci_insights_http_request_duration_seconds_bucket{${ROUTE},le="5"}`]: '0+100x40',
      [`ci_insights_http_request_duration_seconds_bucket{${ROUTE},le="+Inf"}`]: '0+100x40',
    },
  },
};

const folder = makeFolder('alerts');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What Prometheus finds wrong with the expectation that an alert fires, or does not; empty if it holds. */
async function problemsOf(
  alert: string,
  { minutes, series, fires }: { minutes: number; series: Series; fires: boolean },
) {
  const file = join(folder, 'test.json');
  const expected = fires ? [{ labels: '{}', value: 1 }] : [];
  const firing = `count(ALERTS{alertname="${alert}",alertstate="firing"})`;
  // JSON is YAML.
  const tests = {
    rule_files: [ALERTS],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        promql_expr_test: [{ expr: firing, eval_time: `${minutes}m`, exp_samples: expected }],
      },
    ],
  };
  writeFileSync(file, JSON.stringify(tests));
  const { code, printed } = await run([promtool ?? '', 'test', 'rules', file], { env: machine() });
  return code === 0 ? '' : printed;
}

test('every alert has a case', () => {
  const schema = z.object({ groups: z.array(z.object({ rules: z.array(z.object({ alert: z.string() })) })) });
  const { groups } = schema.parse(Bun.YAML.parse(readFileSync(ALERTS, 'utf8')));
  expect(Object.keys(CASES)).toEqual(groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)));
});

test.skipIf(promtool === null).each(Object.entries(CASES))(
  '%s fires when it should, and only then',
  async (alert, { minutes, ill, well }) => {
    expect(await problemsOf(alert, { minutes, series: ill, fires: true })).toBe('');
    expect(await problemsOf(alert, { minutes, series: well, fires: false })).toBe('');
  },
);
