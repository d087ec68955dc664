/** What is stored of causes (src/domain/causes.ts): read and replaced by the refresh that derives them. */
import { and, eq, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { KnownNode } from '../domain/causes.ts';
import type { Executor } from './client.ts';
import { plainColumn, textColumn } from './columns.ts';
import { CAUSES_LOCK } from './locks.ts';
import { causeDays, causeGroups, causeNodes, failureGroups, stale } from './schema.ts';

export interface StoredNode extends KnownNode {
  exceptionType: string;
  /** Normalised. */
  message: string;
  isGeneric: boolean;
  firstTest: string;
  lastAt: number;
  lastTest: string;
  lastFailure: string;
  /** 0: all have left. */
  failures: number;
}

export interface CauseGroup {
  testId: string;
  failureId: string;
  nodeId: string;
  frames: readonly string[];
  filepath: string;
}

export interface CauseDay {
  nodeId: string;
  testId: string;
  pipelineName: string;
  jobName: string;
  axes: string;
  /** Days since the epoch. */
  day: number;
  failures: number;
}

export interface StoredCauses {
  nodes: StoredNode[];
  groups: CauseGroup[];
  days: CauseDay[];
}

/** @returns whether no other process derives the causes of the repository; until the end of the transaction */
export async function lockCauses(tx: Executor, repositoryId: string): Promise<boolean> {
  const { rows } = await tx.execute(
    sql`select pg_try_advisory_xact_lock(${CAUSES_LOCK}, hashtext(${repositoryId})) as is_mine`,
  );
  return z.object({ is_mine: z.boolean() }).parse(rows[0]).is_mine;
}

export async function readCauseNodes(tx: Executor, repositoryId: string): Promise<StoredNode[]> {
  const rows = await tx.select().from(causeNodes).where(eq(causeNodes.repositoryId, repositoryId));
  return rows.map(({ nodeId, firstMs, lastMs, repositoryId: _, wasCause: __, ...node }) => ({
    ...node,
    ...{ id: nodeId, firstAt: firstMs, lastAt: lastMs },
  }));
}

export async function readCauseGroups(tx: Executor, repositoryId: string): Promise<CauseGroup[]> {
  const rows = await tx.select().from(causeGroups).where(eq(causeGroups.repositoryId, repositoryId));
  return rows.map(({ repositoryId: _, ...group }) => group);
}

export async function readCauseDays(tx: Executor, repositoryId: string): Promise<CauseDay[]> {
  const rows = await tx.select().from(causeDays).where(eq(causeDays.repositoryId, repositoryId));
  return rows.map(({ repositoryId: _, ...day }) => day);
}

const textRow = z.object({ test_id: z.string(), failure_id: z.string(), type: z.string(), message: z.string() });

/** The texts of the newest failure of some groups; messages without their end, which no fingerprint reads. */
export async function readGroupTexts(
  tx: Executor,
  repositoryId: string,
  groups: readonly { testId: string; failureId: string }[],
): Promise<z.infer<typeof textRow>[]> {
  if (groups.length === 0) return [];
  const { rows } = await tx.execute(sql`
    select test_id, failure_id, exception_type as type, left(exception_message, 8000) as message
    from unnest(${plainColumn(groups.map(({ testId }) => testId))}::uuid[],
      ${plainColumn(groups.map(({ failureId }) => failureId))}::uuid[]) as asked (test_id, failure_id)
    join ${failureGroups} using (test_id, failure_id)
    where repository_id = ${repositoryId}`);
  return rows.map((row) => textRow.parse(row));
}

/** Replaces what is stored of a repository; rows that are as before are not written. */
export async function replaceCauses(tx: Executor, repositoryId: string, causes: StoredCauses): Promise<void> {
  await replaceNodes(tx, repositoryId, causes.nodes);
  await replaceGroups(tx, repositoryId, causes.groups);
  await replaceDays(tx, repositoryId, causes.days);
}

async function replaceNodes(tx: Executor, repositoryId: string, nodes: readonly StoredNode[]): Promise<void> {
  const ids = (pick: (node: StoredNode) => string) => sql`${plainColumn(nodes.map(pick))}::uuid[]`;
  const numbers = (pick: (node: StoredNode) => number) => sql`${plainColumn(nodes.map(pick))}::bigint[]`;
  await tx.execute(sql`
    delete from ${causeNodes} where repository_id = ${repositoryId}
      and not node_id = any(${ids(({ id }) => id)})`);
  await tx.execute(sql`
    insert into ${causeNodes} as kept (repository_id, node_id, cause_id, signature_id, exception_type, message, is_generic,
      first_ms, first_test, last_ms, last_test, last_failure, failures, was_cause)
    select ${repositoryId}::uuid, node_id, cause_id, signature_id, exception_type, message, is_generic::boolean, first_ms,
      first_test, last_ms, last_test, last_failure, failures::int, node_id = cause_id
    from unnest(${ids(({ id }) => id)}, ${ids(({ causeId }) => causeId)}, ${ids(({ signatureId }) => signatureId)},
      ${textColumn(nodes.map(({ exceptionType }) => exceptionType))}, ${textColumn(nodes.map(({ message }) => message))},
      ${plainColumn(nodes.map(({ isGeneric }) => String(isGeneric)))}::text[],
      ${numbers(({ firstAt }) => firstAt)}, ${ids(({ firstTest }) => firstTest)}, ${numbers(({ lastAt }) => lastAt)},
      ${ids(({ lastTest }) => lastTest)}, ${ids(({ lastFailure }) => lastFailure)}, ${numbers(({ failures }) => failures)})
      as derived (node_id, cause_id, signature_id, exception_type, message, is_generic, first_ms, first_test, last_ms,
        last_test, last_failure, failures)
    on conflict (repository_id, node_id) do update set cause_id = excluded.cause_id, first_ms = excluded.first_ms,
      first_test = excluded.first_test, last_ms = excluded.last_ms, last_test = excluded.last_test,
      last_failure = excluded.last_failure, failures = excluded.failures,
      was_cause = kept.was_cause or excluded.was_cause
    where (kept.cause_id, kept.first_ms, kept.first_test, kept.last_ms, kept.last_test, kept.last_failure, kept.failures)
      is distinct from (excluded.cause_id, excluded.first_ms, excluded.first_test, excluded.last_ms, excluded.last_test,
        excluded.last_failure, excluded.failures)`);
}

async function replaceGroups(tx: Executor, repositoryId: string, groups: readonly CauseGroup[]): Promise<void> {
  const ids = (pick: (group: CauseGroup) => string) => sql`${plainColumn(groups.map(pick))}::uuid[]`;
  // A list of lists must be rectangular: so frames are one text each.
  await tx.execute(sql`
    with derived as (
      select test_id, failure_id, node_id, array(select jsonb_array_elements_text(frames::jsonb)) as frames, filepath
      from unnest(${ids(({ testId }) => testId)}, ${ids(({ failureId }) => failureId)}, ${ids(({ nodeId }) => nodeId)},
        ${textColumn(groups.map(({ frames }) => JSON.stringify(frames)))},
        ${textColumn(groups.map(({ filepath }) => filepath))}) as derived (test_id, failure_id, node_id, frames, filepath)
    ), gone as (
      delete from ${causeGroups} as kept where kept.repository_id = ${repositoryId} and not exists (
        select from derived where derived.test_id = kept.test_id and derived.failure_id = kept.failure_id)
    )
    insert into ${causeGroups} as kept (repository_id, test_id, failure_id, node_id, frames, filepath)
    select ${repositoryId}::uuid, * from derived
    on conflict (repository_id, test_id, failure_id) do update set node_id = excluded.node_id
    where kept.node_id <> excluded.node_id`);
}

async function replaceDays(tx: Executor, repositoryId: string, days: readonly CauseDay[]): Promise<void> {
  const ids = (pick: (day: CauseDay) => string) => sql`${plainColumn(days.map(pick))}::uuid[]`;
  await tx.execute(sql`
    with derived as (
      select * from unnest(${ids(({ nodeId }) => nodeId)}, ${ids(({ testId }) => testId)},
        ${textColumn(days.map(({ pipelineName }) => pipelineName))}, ${textColumn(days.map(({ jobName }) => jobName))},
        ${textColumn(days.map(({ axes }) => axes))}, ${plainColumn(days.map(({ day }) => day))}::int[],
        ${plainColumn(days.map(({ failures }) => failures))}::int[])
        as derived (node_id, test_id, pipeline_name, job_name, axes, day, failures)
    ), gone as (
      delete from ${causeDays} as kept where kept.repository_id = ${repositoryId} and not exists (
        select from derived where derived.node_id = kept.node_id and derived.test_id = kept.test_id
          and derived.pipeline_name = kept.pipeline_name and derived.job_name = kept.job_name and derived.axes = kept.axes
          and derived.day = kept.day)
    )
    insert into ${causeDays} as kept (repository_id, node_id, test_id, pipeline_name, job_name, axes, day, failures)
    select ${repositoryId}::uuid, * from derived
    on conflict (repository_id, node_id, test_id, pipeline_name, job_name, axes, day)
      do update set failures = excluded.failures where kept.failures <> excluded.failures`);
}

/** After months have left: the causes of every repository that has some are stale. */
export async function noteAllCausesStale(tx: Executor): Promise<void> {
  await tx.execute(sql`
    insert into ${stale} as noted (repository_id, kind, test_ids, first_block, noted_at)
    select repository_id, 'causes', '{}'::uuid[], ${Number.MAX_SAFE_INTEGER}::bigint, clock_timestamp()
    from (select distinct repository_id from ${causeNodes}) as known
    on conflict (repository_id, kind) do update set revision = noted.revision + 1,
      noted_at = coalesce(noted.noted_at, excluded.noted_at)`);
}

/** The causes of the failure groups of a test, by failure id. */
export async function causesOfGroups(
  tx: Executor,
  repositoryId: string,
  testIds: readonly string[],
): Promise<{ testId: string; failureId: string; causeId: string }[]> {
  return tx
    .select({ testId: causeGroups.testId, failureId: causeGroups.failureId, causeId: causeNodes.causeId })
    .from(causeGroups)
    .innerJoin(
      causeNodes,
      and(eq(causeNodes.repositoryId, causeGroups.repositoryId), eq(causeNodes.nodeId, causeGroups.nodeId)),
    )
    .where(
      and(
        eq(causeGroups.repositoryId, repositoryId),
        sql`${causeGroups.testId} = any(${plainColumn(testIds)}::uuid[])`,
      ),
    );
}

const signatureRow = z.object({ signature_id: z.string(), cause_id: z.string() });

/** The causes of some signatures, by their ids: of several episodes, that of the newest. */
export async function causesOfSignatures(
  tx: Executor,
  repositoryId: string,
  signatureIds: readonly string[],
): Promise<Map<string, string>> {
  if (signatureIds.length === 0) return new Map();
  const { rows } = await tx.execute(sql`
    select distinct on (signature_id) signature_id, cause_id from ${causeNodes}
    where repository_id = ${repositoryId} and signature_id = any(${plainColumn(signatureIds)}::uuid[]) and failures > 0
    order by signature_id, last_ms desc, node_id`);
  return new Map(rows.map((row) => signatureRow.parse(row)).map((row) => [row.signature_id, row.cause_id]));
}
