/** What is stored of causes (src/domain/causes.ts): read and replaced by the refresh that derives them. */
import { and, eq, getTableColumns, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { KnownNode } from '../domain/causes.ts';
import { piecesOf } from '../pieces.ts';
import { forgetCauseTerms } from './cause-terms.ts';
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

const revisionRow = z.object({ revision: z.string() });

/** Another one after each refresh of the causes of a repository. */
export async function causesRevision(tx: Executor, repositoryId: string): Promise<string> {
  const { rows } = await tx.execute(
    sql`select rests_until::text as revision from ${stale} where repository_id = ${repositoryId} and kind = 'causes'`,
  );
  return rows[0] ? revisionRow.parse(rows[0]).revision : '';
}

export async function readCauseNodes(tx: Executor, repositoryId: string): Promise<StoredNode[]> {
  const { words: _, wasCause: __, repositoryId: ___, ...columns } = getTableColumns(causeNodes);
  const rows = await tx.select(columns).from(causeNodes).where(eq(causeNodes.repositoryId, repositoryId));
  return rows.map(({ nodeId, firstMs, lastMs, ...node }) => ({
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

/** Each statement ends in a few seconds, and its texts take some 10 MB. */
const ROWS_PER_STATEMENT = 2_000;

/** Replaces what is stored of a repository. Rows that are as before are not written: hardly any is new. */
export async function replaceCauses(tx: Executor, repositoryId: string, causes: StoredCauses): Promise<void> {
  await replaceNodes(tx, repositoryId, causes.nodes);
  await replaceGroups(tx, repositoryId, causes.groups);
  await replaceDays(tx, repositoryId, causes.days);
}

/** Rows that are not stored as they are, and stored ones whose key has no row any more. */
function differenceOf<R>(
  rows: readonly R[],
  stored: readonly R[],
  keyOf: (row: R) => string,
  textOf: (row: R) => string,
) {
  const texts = new Map(stored.map((row) => [keyOf(row), textOf(row)]));
  const keys = new Set(rows.map(keyOf));
  return {
    changed: rows.filter((row) => texts.get(keyOf(row)) !== textOf(row)),
    gone: stored.filter((row) => !keys.has(keyOf(row))),
  };
}

async function replaceNodes(tx: Executor, repositoryId: string, derived: readonly StoredNode[]): Promise<void> {
  const { changed: nodes, gone } = differenceOf(
    derived,
    await readCauseNodes(tx, repositoryId),
    ({ id }) => id,
    (node) =>
      `${node.causeId} ${node.firstAt} ${node.firstTest} ${node.lastAt} ${node.lastTest} ${node.lastFailure} ${node.failures}`,
  );
  const goneIds = gone.map(({ id }) => id);
  if (gone.length > 0)
    await tx.execute(sql`
      delete from ${causeNodes} where repository_id = ${repositoryId} and node_id = any(${plainColumn(goneIds)}::uuid[])`);
  await forgetCauseTerms(tx, repositoryId, goneIds);
  for (const some of piecesOf(nodes, ROWS_PER_STATEMENT)) await writeNodes(tx, repositoryId, some);
}

async function writeNodes(tx: Executor, repositoryId: string, nodes: readonly StoredNode[]): Promise<void> {
  const ids = (pick: (node: StoredNode) => string) => sql`${plainColumn(nodes.map(pick))}::uuid[]`;
  const numbers = (pick: (node: StoredNode) => number) => sql`${plainColumn(nodes.map(pick))}::bigint[]`;
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
      was_cause = kept.was_cause or excluded.was_cause`);
}

async function replaceGroups(tx: Executor, repositoryId: string, derived: readonly CauseGroup[]): Promise<void> {
  const { changed: groups, gone } = differenceOf(
    derived,
    await readCauseGroups(tx, repositoryId),
    ({ testId, failureId }) => `${testId}/${failureId}`,
    ({ nodeId }) => nodeId,
  );
  const ids = (rows: readonly CauseGroup[], pick: (group: CauseGroup) => string) =>
    sql`${plainColumn(rows.map(pick))}::uuid[]`;
  const keys = (rows: readonly CauseGroup[]) =>
    sql`${ids(rows, ({ testId }) => testId)}, ${ids(rows, ({ failureId }) => failureId)}`;
  if (gone.length > 0)
    await tx.execute(sql`
      delete from ${causeGroups} as kept using unnest(${keys(gone)}) as gone (test_id, failure_id)
      where kept.repository_id = ${repositoryId} and kept.test_id = gone.test_id and kept.failure_id = gone.failure_id`);
  // A list of lists must be rectangular: so the frames of a group are one text.
  for (const some of piecesOf(groups, ROWS_PER_STATEMENT))
    await tx.execute(sql`
    insert into ${causeGroups} (repository_id, test_id, failure_id, node_id, frames, filepath)
    select ${repositoryId}::uuid, test_id, failure_id, node_id, array(select jsonb_array_elements_text(frames::jsonb)), filepath
    from unnest(${keys(some)}, ${ids(some, ({ nodeId }) => nodeId)},
      ${textColumn(some.map(({ frames }) => JSON.stringify(frames)))},
      ${textColumn(some.map(({ filepath }) => filepath))}) as derived (test_id, failure_id, node_id, frames, filepath)
    on conflict (repository_id, test_id, failure_id) do update set node_id = excluded.node_id`);
}

async function replaceDays(tx: Executor, repositoryId: string, derived: readonly CauseDay[]): Promise<void> {
  const { changed: days, gone } = differenceOf(
    derived,
    await readCauseDays(tx, repositoryId),
    ({ nodeId, testId, pipelineName, jobName, axes, day }) =>
      JSON.stringify([nodeId, testId, pipelineName, jobName, axes, day]),
    ({ failures }) => String(failures),
  );
  const keys = (rows: readonly CauseDay[]) => sql`
    ${plainColumn(rows.map(({ nodeId }) => nodeId))}::uuid[], ${plainColumn(rows.map(({ testId }) => testId))}::uuid[],
    ${textColumn(rows.map(({ pipelineName }) => pipelineName))}, ${textColumn(rows.map(({ jobName }) => jobName))},
    ${textColumn(rows.map(({ axes }) => axes))}, ${plainColumn(rows.map(({ day }) => day))}::int[]`;
  if (gone.length > 0)
    await tx.execute(sql`
      delete from ${causeDays} as kept
      using unnest(${keys(gone)}) as gone (node_id, test_id, pipeline_name, job_name, axes, day)
      where kept.repository_id = ${repositoryId} and kept.node_id = gone.node_id and kept.test_id = gone.test_id
        and kept.pipeline_name = gone.pipeline_name and kept.job_name = gone.job_name and kept.axes = gone.axes
        and kept.day = gone.day`);
  for (const some of piecesOf(days, ROWS_PER_STATEMENT))
    await tx.execute(sql`
    insert into ${causeDays} (repository_id, node_id, test_id, pipeline_name, job_name, axes, day, failures)
    select ${repositoryId}::uuid, * from unnest(${keys(some)}, ${plainColumn(some.map(({ failures }) => failures))}::int[])
    on conflict (repository_id, node_id, test_id, pipeline_name, job_name, axes, day)
      do update set failures = excluded.failures`);
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
