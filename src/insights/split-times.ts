/** Reads how long tests, classes and files take, for splits. */
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { testIdOf } from '../domain/identity.ts';
import { reportedNames, type SplitBy } from '../domain/split-names.ts';
import type { TimedGroup, Times } from '../domain/split-times.ts';
import { DAY_MS } from '../domain/time.ts';
import type { Repository } from '../postgres/repositories.ts';
import type { InsightsDeps } from './common.ts';

export const SPLIT_DAYS = 14;
/** Files and classes; those that take least are left out. */
const GROUPS_MAX = 50_000;

const scope = { repository_id: 'UUID', since_ms: 'Int64', pipeline: 'String', job: 'String', axes: 'String' } as const;

const timesOfTests = defineQuery(
  'insights/split_tests',
  { ...scope, test_ids: 'Array(UUID)' },
  z.object({ test_id: z.string(), seconds: z.number() }),
);
const timesOfGroups = defineQuery(
  'insights/split_groups',
  { ...scope, groups: 'UInt32' },
  z.object({ file: z.string(), class_name: z.string(), seconds: z.number(), tests: z.int() }),
);

/** The leg of a run; empty parts stand for every one. */
interface SplitLeg {
  pipeline: string;
  job: string;
  axes: string;
}

interface Question {
  names: readonly string[];
  by: SplitBy;
  leg: SplitLeg;
  nowMs: number;
}

export const NO_TIMES: Times = { tests: new Map(), groups: [] };

export async function readTimes(
  { clickhouse, names: testNames }: Pick<InsightsDeps, 'clickhouse' | 'names'>,
  repository: Repository,
  { names, by, leg, nowMs }: Question,
): Promise<Times> {
  const asked = { repository_id: repository.id, since_ms: nowMs - SPLIT_DAYS * DAY_MS, ...leg };
  const readGroups = async (): Promise<TimedGroup[]> => {
    const rows = await clickhouse.select(timesOfGroups, { ...asked, groups: GROUPS_MAX }, { owner: repository.owner });
    return rows.map(({ class_name: className, ...row }) => ({ ...row, className }));
  };
  if (by !== 'test') return { tests: new Map(), groups: await readGroups() };
  const renamed = await testNames.of(repository.id);
  const nameOfId = new Map(
    names.flatMap(reportedNames).map((name) => [renamed.testOf(testIdOf(repository.id, name)), name]),
  );
  const rows = await clickhouse.select(
    timesOfTests,
    { ...asked, test_ids: [...nameOfId.keys()] },
    { owner: repository.owner },
  );
  const tests = new Map(rows.map(({ test_id, seconds }) => [nameOfId.get(test_id) ?? '', seconds]));
  // Only new tests need what is around them.
  const isKnown = (name: string): boolean => reportedNames(name).some((reported) => tests.has(reported));
  return { tests, groups: names.every(isKnown) ? [] : await readGroups() };
}
