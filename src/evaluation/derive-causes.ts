/**
 * The causes of a repository, from its retained failures on the default branch and from what is stored of them: ids and joins
 * outlive the failures that showed them. Reads ClickHouse, so it is never part of a pass.
 */
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import type { FailedInRun } from '../domain/cause-node.ts';
import { ownFrames, type Signature, signatureOf, signatureOfNormalised } from '../domain/cause-signature.ts';
import { type CauseNode, findCauses } from '../domain/causes.ts';
import { piecesOf } from '../pieces.ts';
import {
  type CauseDay,
  type CauseGroup,
  readCauseGroups,
  readCauseNodes,
  readGroupTexts,
  type StoredCauses,
  type StoredNode,
} from '../postgres/causes.ts';
import type { Executor } from '../postgres/client.ts';

/** A repository with more has them from its newest ones: this many are joined in about a second, within 200 MB. */
const CAUSE_FAILURES_MAX = 100_000;
/**
 * Signatures of a repository, the newest first, may take so much: some 200 MB. Failures with the same message share one, so
 * this is reached where thousands of tests each fail with another long message. Without it, 100,000 such tests took 2 GB.
 */
const CAUSE_CHARACTERS_MAX = 16 * 1024 * 1024;
/** What a signature takes beside its message. */
const SIGNATURE_CHARACTERS = 500;
const sizeOf = ({ message }: Signature): number => message.length + SIGNATURE_CHARACTERS;
/** Groups whose texts and stacks are read at once: some 20 MB. */
const GROUPS_AT_ONCE = 2_000;

/**
 * Signatures of stored nodes by id, from one derivation to the next: to make them again takes longer than to join their failures. An id
 * names the contents of its signature, so what is kept is never outdated.
 */
const keptSignatures = new LRUCache<string, Signature>({
  maxSize: CAUSE_CHARACTERS_MAX,
  sizeCalculation: sizeOf,
});

const failuresByRun = defineLongQuery(
  'evaluation/failures_by_run',
  { repository_id: 'UUID', rows: 'UInt32' },
  z.object({
    test_id: z.string(),
    failure_id: z.string(),
    pipeline_name: z.string(),
    job_name: z.string(),
    axes: z.string(),
    run_id: z.string(),
    commit_sha: z.string(),
    day: z.int(),
    failures: z.int(),
    first_ms: z.int(),
    last_ms: z.int(),
  }),
);
const stacksOfGroups = defineLongQuery(
  'evaluation/stacks_of_groups',
  { repository_id: 'UUID', test_ids: 'Array(UUID)', failure_ids: 'Array(UUID)' },
  z.object({ test_id: z.string(), failure_id: z.string(), stacktrace: z.string(), filepath: z.string() }),
);

/** Failures of one test, group, leg, run and UTC day. */
interface StoredFailures extends FailedInRun {
  failureId: string;
  pipelineName: string;
  jobName: string;
  axes: string;
  day: number;
  failures: number;
  lastAt: number;
}

interface Place {
  tx: Executor;
  clickhouse: ClickHouse;
  repositoryId: string;
}

/** Failures of one test that are alike. */
interface Group {
  testId: string;
  failureId: string;
}

const groupKey = (testId: string, failureId: string): string => `${testId}/${failureId}`;

/**
 * Finds the causes of a repository, as they are to be stored.
 *
 * @param charactersMax how much signatures may take; tests want little
 */
export async function deriveCauses(place: Place, charactersMax = CAUSE_CHARACTERS_MAX): Promise<StoredCauses> {
  const { tx, clickhouse, repositoryId } = place;
  const rows = await clickhouse.select(failuresByRun, { repository_id: repositoryId, rows: CAUSE_FAILURES_MAX });
  const stored = await readCauseNodes(tx, repositoryId);
  const asked = new Map(
    rows.map((row) => [groupKey(row.test_id, row.failure_id), { testId: row.test_id, failureId: row.failure_id }]),
  );
  const traits = await traitsOfGroups(place, asked, stored, charactersMax);
  const failures = rows.flatMap((row): StoredFailures[] => {
    const known = traits.get(groupKey(row.test_id, row.failure_id));
    if (!known) return [];
    return [
      {
        ...{ signature: known.signature, frames: known.frames, file: known.filepath },
        ...{ testId: row.test_id, failureId: row.failure_id },
        ...{ pipelineName: row.pipeline_name, jobName: row.job_name, axes: row.axes },
        ...{ day: row.day, failures: row.failures, failedAt: row.first_ms, lastAt: row.last_ms },
        run: JSON.stringify([row.pipeline_name, row.run_id, row.commit_sha]),
      },
    ];
  });
  const { nodes, gone } = findCauses(repositoryId, failures, stored);
  const storedById = new Map(stored.map((node) => [node.id, node]));
  const living = new Set(nodes.map(({ causeId }) => causeId));
  return {
    nodes: [
      ...nodes.map((node) => storedNode(node, storedById.get(node.id))),
      ...[...gone].flatMap(([id, causeId]) => {
        const known = storedById.get(id);
        return known && living.has(causeId) ? [{ ...known, causeId, failures: 0 }] : [];
      }),
    ],
    groups: groupsOf(nodes),
    days: daysOf(nodes),
  };
}

interface Traits {
  signature: Signature;
  frames: readonly string[];
  filepath: string;
}

/** The signature of a stored node. The test is that of its failure, which only a generic message depends on. */
function knownSignature(repositoryId: string, testId: string, { signatureId, exceptionType, message }: StoredNode) {
  const kept = keptSignatures.get(signatureId);
  if (kept) return kept;
  const made = signatureOfNormalised(repositoryId, testId, exceptionType, message);
  keptSignatures.set(signatureId, made);
  return made;
}

/**
 * The traits of known groups are stored; those of the others follow from their texts and stacks.
 *
 * @param asked those that failed last come first
 * @returns without the oldest groups, if the signatures of all would take too much
 */
async function traitsOfGroups(
  place: Place,
  asked: ReadonlyMap<string, Group>,
  stored: readonly StoredNode[],
  charactersMax: number,
): Promise<Map<string, Traits>> {
  const { tx, repositoryId } = place;
  const nodes = new Map(stored.map((node) => [node.id, node]));
  const known = new Map<string, () => Traits>();
  for (const { testId, failureId, nodeId, frames, filepath } of await readCauseGroups(tx, repositoryId)) {
    const node = nodes.get(nodeId);
    if (!node) continue;
    const traits = () => ({ signature: knownSignature(repositoryId, testId, node), frames, filepath });
    known.set(groupKey(testId, failureId), traits);
  }
  const traits = new Map<string, Traits>();
  // One for all failures of a signature.
  const signatures = new Map<string, Signature>();
  let characters = 0;
  const groups = [...asked];
  for (const some of piecesOf(groups, GROUPS_AT_ONCE)) {
    const told = await readTraits(
      place,
      some.flatMap(([key, group]) => (known.has(key) ? [] : [group])),
    );
    for (const [key] of some) {
      const found = known.get(key)?.() ?? told.get(key);
      if (!found) continue;
      const signature = signatures.get(found.signature.id) ?? found.signature;
      if (!signatures.has(signature.id)) characters += sizeOf(signature);
      if (characters > charactersMax) return traits;
      signatures.set(signature.id, signature);
      traits.set(key, { ...found, signature });
    }
  }
  return traits;
}

/** Reads the newest texts and stacks of some groups. */
async function readTraits(
  { tx, clickhouse, repositoryId }: Place,
  groups: readonly Group[],
): Promise<Map<string, Traits>> {
  if (groups.length === 0) return new Map();
  const stacks = await clickhouse.select(stacksOfGroups, {
    repository_id: repositoryId,
    test_ids: [...new Set(groups.map(({ testId }) => testId))],
    failure_ids: groups.map(({ failureId }) => failureId),
  });
  const byGroup = new Map(stacks.map((row) => [groupKey(row.test_id, row.failure_id), row]));
  const texts = await readGroupTexts(tx, repositoryId, groups);
  return new Map(
    texts.map(({ test_id: testId, failure_id: failureId, type, message }) => {
      const key = groupKey(testId, failureId);
      const stack = byGroup.get(key);
      const signature = signatureOf(repositoryId, testId, type, message);
      return [key, { signature, frames: ownFrames(stack?.stacktrace ?? ''), filepath: stack?.filepath ?? '' }];
    }),
  );
}

function storedNode(node: CauseNode<StoredFailures>, known: StoredNode | undefined): StoredNode {
  const { id, causeId, signature, firstAt, failures } = node;
  const first = failures.reduce((best, one) => (isBefore(one, best, 'failedAt') ? one : best));
  const last = failures.reduce((best, one) => (isBefore(best, one, 'lastAt') ? one : best));
  return {
    ...{ id, causeId, signatureId: signature.id, firstAt },
    ...{ exceptionType: signature.exceptionType, message: signature.message, isGeneric: signature.testId !== null },
    firstTest: known && known.firstAt < first.failedAt ? known.firstTest : first.testId,
    ...{ lastAt: last.lastAt, lastTest: last.testId, lastFailure: last.failureId },
    failures: failures.reduce((sum, one) => sum + one.failures, 0),
  };
}

/** Of failures at the same moment, the order of the tests decides. */
const isBefore = (one: StoredFailures, other: StoredFailures, time: 'failedAt' | 'lastAt'): boolean =>
  one[time] !== other[time]
    ? one[time] < other[time]
    : one.testId !== other.testId
      ? one.testId < other.testId
      : one.failureId < other.failureId;

/** A group that has come back in another episode belongs to the newest. */
function groupsOf(nodes: readonly CauseNode<StoredFailures>[]): CauseGroup[] {
  const groups = new Map<string, CauseGroup & { lastAt: number }>();
  for (const { id: nodeId, failures } of nodes)
    for (const { testId, failureId, frames, file: filepath, lastAt } of failures) {
      const key = groupKey(testId, failureId);
      const known = groups.get(key);
      if (!known || known.lastAt < lastAt) groups.set(key, { testId, failureId, nodeId, frames, filepath, lastAt });
    }
  return [...groups.values()].map(({ lastAt: _, ...group }) => group);
}

function daysOf(nodes: readonly CauseNode<StoredFailures>[]): CauseDay[] {
  const days = new Map<string, CauseDay>();
  for (const { id: nodeId, failures } of nodes)
    for (const { testId, pipelineName, jobName, axes, day, failures: count } of failures) {
      const key = JSON.stringify([nodeId, testId, pipelineName, jobName, axes, day]);
      const known = days.get(key);
      if (known) known.failures += count;
      else days.set(key, { nodeId, testId, pipelineName, jobName, axes, day, failures: count });
    }
  return [...days.values()];
}
