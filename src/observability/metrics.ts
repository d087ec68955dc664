/**
 * The metrics that code counts while it runs. docs/operations.md explains each; a test compares that list, the
 * dashboard and the alert rules with what the service exposes.
 *
 * Labels are few and bounded: routes, queues, stores, statements. A repository, a test or a branch is never a label.
 */
import { Counter, Gauge, Histogram } from '@prometheus-io/client';
import { registry } from './registry.ts';

const registers = [registry];
/** In seconds, from an answer from memory to a read that times out. */
const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];
/** In seconds, for background work. */
const WORK_SECONDS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export const requestSeconds = new Histogram({
  name: 'ci_insights_http_request_duration_seconds',
  help: 'Time from a request to its answer, by route, method and status class.',
  labelNames: ['route', 'method', 'status'],
  buckets: REQUEST_SECONDS,
  registers,
});

/** Requests being answered. A plain number, because every request changes it twice. */
export const inFlight = { requests: 0 };
new Gauge({
  name: 'ci_insights_http_requests_in_flight',
  help: 'Requests being answered.',
  registers,
  collect() {
    this.set(inFlight.requests);
  },
});

export const requestsUnmatched = new Counter({
  name: 'ci_insights_http_requests_unmatched_total',
  help: 'Requests that matched no route: 404 or 405.',
  registers,
});

export const storeUnavailable = new Counter({
  name: 'ci_insights_store_unavailable_total',
  help: 'Times that a store was unavailable, by store and by what needed it (request, job, or the name of a loop).',
  labelNames: ['store', 'needed_by'],
  registers,
});

export const readsRefused = new Counter({
  name: 'ci_insights_reads_refused_total',
  help: 'Reads answered with 503 to protect others: too many at once (busy), too long (time) or too large (memory).',
  labelNames: ['reason'],
  registers,
});

export const rateLimited = new Counter({
  name: 'ci_insights_requests_rate_limited_total',
  help: 'Requests answered with 429 because their key sent more than RATE_LIMIT_PER_MINUTE allows, by operation.',
  labelNames: ['operation'],
  registers,
});

export const rateLimitCountedAlone = new Counter({
  name: 'ci_insights_rate_limit_counted_alone_total',
  help: 'Requests that this replica counted for the rate limit alone, because Redis did not answer.',
  registers,
});

export const uploadsPossiblyLost = new Counter({
  name: 'ci_insights_uploads_possibly_lost_total',
  help: 'Uploads and webhooks refused because the queue was unavailable or too much arrived: their senders may not retry.',
  labelNames: ['kind'],
  registers,
});

export const uploadsShed = new Counter({
  name: 'ci_insights_uploads_shed_total',
  help: 'Uploads and webhooks refused because more arrived than can be read; counted as possibly lost, too.',
  labelNames: ['kind'],
  registers,
});

/** Why a parser ended while it read an upload. */
export const PARSER_ENDS = ['memory', 'cpu time', 'time', 'died', 'killed', 'unstarted'] as const;
export const parsersEnded = new Counter({
  name: 'ci_insights_parsers_ended_total',
  help: 'Parsers that ended while they read an upload: it took too much memory or time, they died, or were killed.',
  labelNames: ['reason'],
  registers,
});

/** How long an upload would wait; set by what admits uploads. */
export const uploadWait = { seconds: () => 0 };
new Gauge({
  name: 'ci_insights_upload_wait_seconds',
  help: 'How long an upload that arrives now would wait until the queue has it, estimated; beyond 5 it is refused.',
  registers,
  collect() {
    this.set(uploadWait.seconds());
  },
});

export const uploadsNotKept = new Counter({
  name: 'ci_insights_uploads_not_kept_total',
  help: 'Uploads and webhooks that are stored, but could not be kept for a restore.',
  registers,
});

export const uploadsKeptWaiting = new Gauge({
  name: 'ci_insights_uploads_kept_waiting_seconds',
  help: 'Age of the oldest kept uploads that wait to be moved to the S3 store; 0 if none do.',
  registers,
});

export const hostWrites = new Counter({
  name: 'ci_insights_host_writes_total',
  help: 'Comments on pull requests and checks of commits, by outcome: what was done, limited (by the host) or failed.',
  labelNames: ['outcome'],
  registers,
});

export const jobs = new Counter({
  name: 'ci_insights_jobs_total',
  help: 'Finished attempts of jobs, by queue and outcome: done, retried (later) or failed (out of attempts).',
  labelNames: ['queue', 'outcome'],
  registers,
});

export const jobSeconds = new Histogram({
  name: 'ci_insights_job_duration_seconds',
  help: 'Time that a worker spent on a finished job, including the wait for its block.',
  labelNames: ['queue'],
  buckets: WORK_SECONDS,
  registers,
});

export const deadLetters = new Counter({
  name: 'ci_insights_dead_letters_total',
  help: 'Jobs that became dead letters because no retry can help, by queue.',
  labelNames: ['queue'],
  registers,
});

export const executionsStored = new Counter({
  name: 'ci_insights_executions_stored_total',
  help: 'Executions that ClickHouse acknowledged, each counted once.',
  registers,
});

export const executionsDuplicate = new Counter({
  name: 'ci_insights_executions_duplicate_total',
  help: 'Executions received again after they were stored; they change nothing.',
  registers,
});

export const blockExecutions = new Histogram({
  name: 'ci_insights_block_executions',
  help: 'Executions per stored block; its count is the number of blocks.',
  buckets: [1, 10, 100, 500, 1_000, 2_500, 5_000, 10_000],
  registers,
});

export const blockBytes = new Histogram({
  name: 'ci_insights_block_bytes',
  help: 'Bytes inserted for a stored block, before compression.',
  buckets: [1, 4, 16, 64, 256, 1_024, 4_096, 8_192, 16_384].map((kibibytes) => kibibytes * 1_024),
  registers,
});

export const blockInsertSeconds = new Histogram({
  name: 'ci_insights_block_insert_duration_seconds',
  help: 'Time from sending a block until ClickHouse acknowledges it.',
  buckets: WORK_SECONDS,
  registers,
});

export const fingerprintsBrief = new Counter({
  name: 'ci_insights_fingerprints_brief_total',
  help: 'Failures with a brief fingerprint, because the messages of their owner took more time than they may.',
  registers,
});

export const evaluationSeconds = new Histogram({
  name: 'ci_insights_evaluation_duration_seconds',
  help: 'Time of one evaluation of the tests in newly stored blocks.',
  buckets: WORK_SECONDS,
  registers,
});

export const refreshSeconds = new Histogram({
  name: 'ci_insights_refresh_duration_seconds',
  help: 'Time of one refresh of a repository: of its judgements, for which uploads wait, or of its summaries.',
  labelNames: ['of'],
  buckets: WORK_SECONDS,
  registers,
});

export const eventsRelayed = new Counter({
  name: 'ci_insights_events_relayed_total',
  help: 'Events sent from the outbox to the event log.',
  registers,
});

export const statementSeconds = new Histogram({
  name: 'ci_insights_clickhouse_statement_duration_seconds',
  help: 'Time of a ClickHouse statement, by its name in sql/queries; others are rows, command or insert.',
  labelNames: ['statement', 'outcome'],
  buckets: REQUEST_SECONDS,
  registers,
});

export const spansLost = new Counter({
  name: 'ci_insights_spans_lost_total',
  help: 'Trace spans that the endpoint did not accept.',
  registers,
});

// Counters without labels start at 0 automatically. With labels they must be started, or their first increase goes
// unnoticed.
for (const kind of ['upload', 'webhook'])
  for (const counter of [uploadsPossiblyLost, uploadsShed]) counter.inc({ kind }, 0);
for (const reason of PARSER_ENDS) parsersEnded.inc({ reason }, 0);
