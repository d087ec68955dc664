/** Failures and red runs that the open quarantines of a repository have excused since they began. */
import type { AnyElysia } from 'elysia';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { formatMoment } from '../domain/moment.ts';
import { countable, countedSince, EFFECT_DAYS, EFFECTS_MAX, scopeLists } from '../domain/quarantine-effects.ts';
import { type Http, mount } from '../http/operation.ts';
import * as common from './common.ts';

const effects = defineQuery(
  'insights/quarantine_effects',
  {
    repository_id: 'UUID',
    since_ms: 'Int64',
    test_ids: 'Array(UUID)',
    begun_ms: 'Array(Int64)',
    branches: 'Array(String)',
    pipelines: 'Array(String)',
    jobs: 'Array(String)',
    axis_numbers: 'Array(UInt32)',
    axis_names: 'Array(String)',
    axis_values: 'Array(String)',
    failure_ids: 'Array(UUID)',
    failure_numbers: 'Array(UInt32)',
    narrowed_test_ids: 'Array(UUID)',
  },
  z.object({
    /** From 1 on, in the order of the quarantines that were asked for. */
    number: z.int(),
    failed_executions: z.int(),
    red_runs: z.int(),
    spared_runs: z.int(),
  }),
);

const count = (description: string, example: number) => z.int().meta({ description, example });
const effectSchema = z
  .object({
    quarantine_id: z.guid().meta({ example: '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
    counted_since: common.dateTimeOut.meta({
      description: `When the quarantine began, or ${EFFECT_DAYS} days ago if it is older`,
    }),
    failed_executions: count('Failed executions that it excuses', 12),
    red_runs: count('Attempts of CI jobs in which these failed', 9),
    spared_runs: count('Those of them in which quarantines excuse every failure', 7),
  })
  .meta({ id: 'QuarantineEffect' });
const response = z.object({
  effects: z.array(effectSchema).meta({ description: 'One for each quarantine, in order of creation' }),
  is_complete: z
    .boolean()
    .meta({ description: `False if there are more quarantines than can be counted (${EFFECTS_MAX})`, example: true }),
});

export type QuarantineEffects = z.output<typeof response>;

/** How old an answer may be, and of how many repositories answers are kept. */
const KEPT_MS = 60_000;
const REPOSITORIES_MAX = 1_000;

export function mountQuarantineEffects(app: AnyElysia, http: Http, deps: common.InsightsDeps): void {
  const answers = new LRUCache<string, z.input<typeof response>>({ max: REPOSITORIES_MAX, ttl: KEPT_MS });
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/quarantine-effects', {
    operationId: 'getQuarantineEffects',
    tag: common.TAG,
    summary: 'Count what quarantines have excused',
    description:
      'For each quarantine that is open now: how many failed executions it excuses since it began, on any branch, in how many attempts of CI jobs, and how many of these quarantines spared, because they excuse every failure in them. Counted with the terms of now; up to a minute old.',
    access: 'read',
    params: common.shortPath,
    responses: { 200: { description: 'The effects.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path, signal }) => {
      const repository = await deps.repositories.find(path.owner, path.repository);
      if (!repository) return { body: { effects: [], is_complete: true } };
      const { quarantines, revision } = await deps.quarantines.snapshot(repository.id);
      // Within a revision, fewer are left when some have ended.
      const key = `${repository.id}:${revision}:${quarantines.length}`;
      const kept = answers.get(key);
      if (kept) return { body: kept };
      const counted = countable(quarantines);
      const now = deps.clock.now();
      const rows =
        counted.length > 0
          ? await deps.clickhouse.select(
              effects,
              { repository_id: repository.id, ...scopeLists(counted, now) },
              { owner: repository.owner, signal },
            )
          : [];
      const byNumber = new Map(rows.map((row) => [row.number, row]));
      const body: z.input<typeof response> = {
        effects: counted.map((quarantine, i) => {
          const row = byNumber.get(i + 1);
          return {
            quarantine_id: quarantine.id,
            counted_since: formatMoment(countedSince(quarantine, now)),
            failed_executions: row?.failed_executions ?? 0,
            red_runs: row?.red_runs ?? 0,
            spared_runs: row?.spared_runs ?? 0,
          };
        }),
        is_complete: counted.length === quarantines.length,
      };
      answers.set(key, body);
      return { body };
    },
  });
}
