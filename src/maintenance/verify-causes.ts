/** Compares what is stored of causes with what the failures give. */
import type { ClickHouse } from '../clickhouse/client.ts';
import { deriveCauses } from '../evaluation/derive-causes.ts';
import type { Pending } from '../evaluation/pending.ts';
import { readCauseDays, readCauseGroups, readCauseNodes, type StoredCauses } from '../postgres/causes.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { everyRepositoryId } from '../postgres/repositories.ts';

interface VerifyCausesDeps {
  clickhouse: ClickHouse;
  db: Database;
}

/** A sentence for each row that differs, of all repositories or of one. What is stale or waits is not compared. */
export async function causeDifferences(
  deps: VerifyCausesDeps,
  { stale, repositories: waiting }: Pick<Pending, 'stale' | 'repositories'>,
  repositoryId?: string,
): Promise<string[]> {
  const ids = repositoryId === undefined ? await everyRepositoryId(deps.db) : [repositoryId];
  const differences: string[] = [];
  for (const id of ids)
    if (!stale.get(id)?.has('causes') && !waiting.has(id)) differences.push(...(await differencesIn(deps, id)));
  return differences;
}

async function differencesIn({ clickhouse, db }: VerifyCausesDeps, repositoryId: string): Promise<string[]> {
  const derived = await onPostgres(() => deriveCauses({ tx: db, clickhouse, repositoryId }));
  const stored = await onPostgres(async () => ({
    nodes: await readCauseNodes(db, repositoryId),
    groups: await readCauseGroups(db, repositoryId),
    days: await readCauseDays(db, repositoryId),
  }));
  const [is, kept] = [sentencesOf(derived), sentencesOf(stored)];
  return [
    ...[...is.difference(kept)].map((one) => `repository ${repositoryId}: ${one} is not stored`),
    ...[...kept.difference(is)].map((one) => `repository ${repositoryId}: ${one} is stored, but does not follow`),
  ];
}

const sentencesOf = ({ nodes, groups, days }: StoredCauses): Set<string> =>
  new Set([
    ...nodes.map(
      ({ id, causeId, signatureId, firstAt, firstTest, lastAt, lastTest, lastFailure, failures }) =>
        `node ${id} of cause ${causeId} with signature ${signatureId}, from ${firstAt} in test ${firstTest} to ${lastAt} in test ${lastTest} with failure ${lastFailure}, ${failures} failures`,
    ),
    ...groups.map(({ testId, failureId, nodeId }) => `group ${failureId} of test ${testId} in node ${nodeId}`),
    ...days.map(
      ({ nodeId, testId, pipelineName, jobName, axes, day, failures }) =>
        `${failures} failures of node ${nodeId} in test ${testId} and leg ${JSON.stringify([pipelineName, jobName, axes])} on day ${day}`,
    ),
  ]);
