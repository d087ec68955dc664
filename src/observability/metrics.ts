/**
 * The metrics that the code counts as it goes. docs/operations.md explains each; a test holds that list, the dashboard and the
 * alert rules against what is shown.
 *
 * Labels are few and bounded: routes, queues, stores, statements. Never a repository, a test or a branch.
 */
import { Counter, Gauge, Histogram } from 'prom-client';
import { registry } from './registry.ts';

const registers = [registry];
/** Seconds: from an answer out of memory to a read that is cut off. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];
/** Seconds: of work in the background. */
const WORK_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export const requestSeconds = new Histogram({
  name: 'ci_insights_http_request_duration_seconds',
  help: 'Time from a request to its answer, by route, method and class of status.',
  labelNames: ['route', 'method', 'status'],
  buckets: REQUEST_SECONDS,
  registers,
});

/** How many requests are being answered; a plain number, because every request changes it twice. */
export const inFlight = { requests: 0 };
new Gauge({
  name: 'ci_insights_http_requests_in_flight',
  help: 'Requests being answered now.',
  registers,
  collect() {
    this.set(inFlight.requests);
  },
});

export const requestsUnmatched = new Counter({
  name: 'ci_insights_http_requests_unmatched_total',
  help: 'Requests that met no route: 404 or 405.',
  registers,
});

export const storeUnavailable = new Counter({
  name: 'ci_insights_store_unavailable_total',
  help: 'Times that a store did not answer, by store and by what needed it (request, job, or the name of a loop).',
  labelNames: ['store', 'needed_by'],
  registers,
});

export const uploadsPossiblyLost = new Counter({
  name: 'ci_insights_uploads_possibly_lost_total',
  help: 'Uploads and webhooks refused because the queue did not take them: whoever sent them may not try again.',
  labelNames: ['kind'],
  registers,
});

export const jobs = new Counter({
  name: 'ci_insights_jobs_total',
  help: 'Tries of jobs that ended, by queue and outcome: done, retried (tried again later) or failed (out of tries).',
  labelNames: ['queue', 'outcome'],
  registers,
});

export const jobSeconds = new Histogram({
  name: 'ci_insights_job_duration_seconds',
  help: 'Time that a worker held a job that it finished, waiting for its block included.',
  labelNames: ['queue'],
  buckets: WORK_SECONDS,
  registers,
});

export const deadLetters = new Counter({
  name: 'ci_insights_dead_letters_total',
  help: 'Jobs that went to the dead letters because no retry can help, by queue.',
  labelNames: ['queue'],
  registers,
});

export const executionsStored = new Counter({
  name: 'ci_insights_executions_stored_total',
  help: 'Executions that ClickHouse has acknowledged, each once.',
  registers,
});

export const executionsDuplicate = new Counter({
  name: 'ci_insights_executions_duplicate_total',
  help: 'Executions that had been stored before and counted nothing.',
  registers,
});

export const blockExecutions = new Histogram({
  name: 'ci_insights_block_executions',
  help: 'Executions in a stored block; the count of it is the number of blocks.',
  buckets: [1, 10, 100, 500, 1_000, 2_500, 5_000, 10_000],
  registers,
});

export const blockBytes = new Histogram({
  name: 'ci_insights_block_bytes',
  help: 'Size of the insert of a stored block, before compression.',
  buckets: [1, 4, 16, 64, 256, 1_024, 4_096, 8_192, 16_384].map((kibibytes) => kibibytes * 1_024),
  registers,
});

export const blockInsertSeconds = new Histogram({
  name: 'ci_insights_block_insert_duration_seconds',
  help: 'Time from sending a block to the acknowledgement of ClickHouse.',
  buckets: WORK_SECONDS,
  registers,
});

export const evaluationSeconds = new Histogram({
  name: 'ci_insights_evaluation_duration_seconds',
  help: 'Time of one pass that judges the tests of the blocks that were stored since the last one.',
  buckets: WORK_SECONDS,
  registers,
});

export const eventsRelayed = new Counter({
  name: 'ci_insights_events_relayed_total',
  help: 'Events carried from the outbox to the log.',
  registers,
});

export const statementSeconds = new Histogram({
  name: 'ci_insights_clickhouse_statement_duration_seconds',
  help: 'Time of a ClickHouse statement, by its name in sql/queries; others are rows, command and insert.',
  labelNames: ['statement', 'outcome'],
  buckets: REQUEST_SECONDS,
  registers,
});

export const spansLost = new Counter({
  name: 'ci_insights_spans_lost_total',
  help: 'Spans of traces that the endpoint did not take.',
  registers,
});

// Counters without labels show 0 by themselves; these begin at 0 too, so that a first increase is one.
for (const kind of ['upload', 'webhook']) uploadsPossiblyLost.inc({ kind }, 0);
