/** How far the setting-up of a repository is: what has arrived of it, and what has not. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { CI_KINDS } from '../domain/ci-claims.ts';
import { ciKindsFor } from '../domain/ci-rules.ts';
import { formatMoment } from '../domain/moment.ts';
import { REPORT_SOURCES, type ReportSource } from '../domain/report-source.ts';
import { DAY_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import type { Repository } from '../postgres/repositories.ts';
import { readReportedAt } from '../postgres/repository-totals.ts';
import { lastUseOfSenders } from '../postgres/senders.ts';
import * as common from './common.ts';

/** What reported longer ago than that is no longer set up. */
const REPORTED_DAYS = 30;

const newestReports = defineQuery(
  'insights/setup',
  { repository_id: 'UUID', days: 'UInt16', now_ms: 'Int64' },
  z.object({
    source: z.enum(REPORT_SOURCES),
    newest_ms: z.int(),
    newest_pipeline: z.string(),
    newest_job: z.string(),
    newest_branch: z.string(),
    newest_commit: z.string(),
    newest_pull: z.int(),
  }),
);

const report = z.object({
  at: common.dateTimeOut.meta({ description: 'When its newest execution finished' }),
  pipeline_name: common.pipelineNameOut,
  job_name: common.jobNameOut,
  branch: z.string().nullable().meta({ example: 'feature/rounding' }),
  commit_sha: z.string().nullable().meta({ example: '1111111111111111111111111111111111111111' }),
  pull_request: z.int().nullable().meta({ example: 7 }),
});
const reported = (what: string) =>
  report.nullable().meta({
    description: `The newest run ${what}; null if CI has sent none in the last ${REPORTED_DAYS} days. Imported results do not count`,
  });

const response = z
  .object({
    key: z
      .object({
        at: common.dateTimeOut,
        is_identity_token: z
          .boolean()
          .meta({ description: 'Whether a CI job got it for its identity token', example: false }),
      })
      .nullable()
      .meta({
        description: 'When a key that may send reports of this repository was last used, to the minute; null: none was',
      }),
    pull_request: reported('of a pull request'),
    default_branch: reported('of the default branch'),
    other_branch: reported('of another branch, without a pull request'),
    gate: z
      .object({ at: common.dateTimeOut })
      .nullable()
      .meta({ description: 'When `ci-insights gate` last sent reports, to the hour; null: it never did' }),
    identity_tokens: z.array(z.enum(CI_KINDS)).meta({
      description:
        'The kinds of CI whose jobs need no key here: the service takes their identity tokens, and a rule names this repository',
      example: ['github'],
    }),
  })
  .meta({ id: 'Setup' });

export type Setup = z.output<typeof response>;

export const mountSetup = (app: AnyElysia, http: Http, deps: common.InsightsDeps): void =>
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/setup', {
    operationId: 'getSetup',
    tag: common.TAG,
    summary: 'Get how far a repository is set up',
    description:
      'What setting up a repository takes, and what of it has happened: a key that may send its reports was used, reports of a pull request and of the default branch arrived, the gate ran; and whose jobs need no key. Also of a repository of which nothing has arrived yet.',
    access: 'read',
    params: common.shortPath,
    responses: { 200: { description: 'What has happened.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: { owner, repository: name }, signal }) => {
      const repository = await deps.repositories.find(owner, name);
      const [key, reports] = await Promise.all([
        lastUseOfSenders(deps.db, { owner, name }),
        repository ? readReports(deps, repository, signal) : {},
      ]);
      const gateRanAt = repository?.gateRanAt ?? null;
      const body: z.input<typeof response> = {
        key: key && { at: formatMoment(key.at.getTime()), is_identity_token: key.isOfCiJob },
        pull_request: null,
        default_branch: null,
        other_branch: null,
        gate: gateRanAt && { at: formatMoment(gateRanAt.getTime()) },
        identity_tokens: deps.ciTokens
          ? [...ciKindsFor(deps.ciTokens.issuers, deps.ciTokens.rules, { owner, name })]
          : [],
        ...reports,
      };
      return { body };
    },
  });

type Reports = Partial<Record<ReportSource, z.input<typeof report>>>;

async function readReports(
  { clickhouse, clock, db }: common.InsightsDeps,
  { id, owner }: Repository,
  signal: AbortSignal | undefined,
): Promise<Reports> {
  const reportedAt = await readReportedAt(db, id);
  const since = clock.now() - REPORTED_DAYS * DAY_MS;
  if (REPORT_SOURCES.every((source) => reportedAt[source] < since)) return {};
  const rows = await clickhouse.select(
    newestReports,
    { repository_id: id, days: REPORTED_DAYS, now_ms: clock.now() },
    { owner, signal },
  );
  const reported = rows.filter(({ source }) => reportedAt[source] >= since);
  return Object.fromEntries(
    reported.map((row) => [
      row.source,
      {
        at: formatMoment(row.newest_ms),
        pipeline_name: row.newest_pipeline,
        job_name: row.newest_job,
        branch: row.newest_branch || null,
        commit_sha: row.newest_commit || null,
        pull_request: row.newest_pull || null,
      },
    ]),
  );
}
