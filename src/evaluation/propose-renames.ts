/** Finds tests that were renamed, from what ran on the default branch lately (src/domain/renames.ts). */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { proposeRenames, RENAME_COMMITS_MIN, RENAME_DAYS, type SeenTest } from '../domain/renames.ts';
import { legKey } from '../domain/test-identity.ts';
import { DAY_MS } from '../domain/time.ts';
import type { NewProposal } from '../postgres/renames.ts';

/** If more came or left, the newest are compared. */
const TESTS_MAX = 20_000;

const commitsOfLegs = defineLongQuery(
  'evaluation/commits_of_legs',
  { repository_id: 'UUID', since_ms: 'Int64' },
  z.object({
    pipeline: z.string(),
    job: z.string(),
    leg: z.string(),
    /** When each began, in milliseconds since the epoch, and its id. */
    commits: z.array(z.tuple([z.coerce.number(), z.string()])),
  }),
);
const testsThatChanged = defineLongQuery(
  'evaluation/tests_that_changed',
  { repository_id: 'UUID', since_ms: 'Int64', came_after_ms: 'Int64', left_before_ms: 'Int64', tests: 'UInt32' },
  z.object({
    test_id: z.string(),
    test_name: z.string(),
    test_file: z.string(),
    first_ms: z.coerce.number(),
    histories: z.array(z.string()),
    spans: z.array(z.tuple([z.string(), z.string(), z.string(), z.string(), z.string()])),
  }),
);

/** @param newestAt when the newest execution of the repository finished; milliseconds since the epoch */
export async function findRenames(
  clickhouse: ClickHouse,
  repositoryId: string,
  newestAt: number,
): Promise<NewProposal[]> {
  const asked = { repository_id: repositoryId, since_ms: newestAt - RENAME_DAYS * DAY_MS };
  const legs = await clickhouse.select(commitsOfLegs, asked);
  const long = legs.filter(({ commits }) => commits.length >= 2 * RENAME_COMMITS_MIN);
  if (long.length === 0) return [];
  const begunMs = (at: number) => long.map(({ commits }) => commits.at(at)?.[0] ?? 0);
  const rows = await clickhouse.select(testsThatChanged, {
    ...asked,
    came_after_ms: Math.min(...begunMs(RENAME_COMMITS_MIN - 1)),
    left_before_ms: Math.max(...begunMs(-RENAME_COMMITS_MIN)),
    tests: TESTS_MAX,
  });
  const places = new Map(
    legs.map(({ pipeline: pipelineName, job: jobName, leg: axes, commits }) => [
      legKey({ pipelineName, jobName, axes }),
      new Map(commits.map(([, commit], place) => [commit, place])),
    ]),
  );
  const tests = rows.flatMap((row) => seenTest(row, places) ?? []);
  const byId = new Map(rows.map((row) => [row.test_id, row]));
  const commits = new Map([...places].map(([leg, ofLeg]) => [leg, ofLeg.size]));
  return proposeRenames(tests, commits).flatMap(({ fromId, toId, reasons, confidence }) => {
    const [from, to] = [byId.get(fromId), byId.get(toId)];
    if (!from || !to) return [];
    const names = { fromName: from.test_name, toName: to.test_name };
    return [{ fromId, toId, ...names, reasons, confidence, firstMs: to.first_ms }];
  });
}

/** Undefined if a commit of it is not known. */
function seenTest(
  { test_id: testId, test_name: name, test_file: file, spans, histories }: z.infer<typeof testsThatChanged.row>,
  places: ReadonlyMap<string, ReadonlyMap<string, number>>,
): SeenTest | undefined {
  const found = spans.flatMap(([pipelineName, jobName, axes, firstCommit, lastCommit]) => {
    const leg = legKey({ pipelineName, jobName, axes });
    const [first, last] = [places.get(leg)?.get(firstCommit), places.get(leg)?.get(lastCommit)];
    return first === undefined || last === undefined ? [] : [{ leg, first, last }];
  });
  return found.length === spans.length ? { testId, name, file, spans: found, history: histories.join() } : undefined;
}
