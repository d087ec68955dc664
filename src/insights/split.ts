/**
 * Splits a list of tests into groups of equal time, one for each shard of a run. The first shard that asks decides for
 * the others: results that come in between would change the groups, and a test would run twice or never.
 */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { axesRejection, axesSchema, axesText } from '../domain/axes.ts';
import { listKeyOf, splitKeyOf } from '../domain/identity.ts';
import { CHECK_BODY_BYTES_MAX, CHECKED_NAMES_MAX, NAME_LENGTH_MAX, TEST_NAME_LENGTH_MAX } from '../domain/limits.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { groupsOf, SPLIT_TOTAL_MAX } from '../domain/split.ts';
import { SPLIT_BY } from '../domain/split-names.ts';
import { timedNames } from '../domain/split-times.ts';
import { ReadRefused, StoreUnavailable } from '../errors.ts';
import { type Http, mount } from '../http/operation.ts';
import { text } from '../http/text.ts';
import { findSplit, keepSplit, SPLITS_KEPT_DAYS, trimSplits } from '../postgres/splits.ts';
import { TtlCache } from '../ttl-cache.ts';
import { type InsightsDeps, shortPath, TAG } from './common.ts';
import { NO_TIMES, readTimes, SPLIT_DAYS } from './split-times.ts';

const SPLIT_EXAMPLE = {
  names: ['src/cart.test.ts', 'src/couriers.test.ts', 'src/payment.test.ts'],
  by: 'file',
  total: 2,
  index: 0,
  pipeline_name: 'CI',
  job_name: 'unit',
  run_id: '1001',
};

const name = (example: string) => text(1, NAME_LENGTH_MAX).nullish().meta({ example });

const body = z
  .object({
    names: z
      .array(text(1, TEST_NAME_LENGTH_MAX))
      .min(1, { error: 'is empty: there is nothing to split' })
      .max(CHECKED_NAMES_MAX, { error: `holds more than ${CHECKED_NAMES_MAX} names: split files or classes` })
      .meta({
        description: 'What to split, such as paths of files; one that is given twice counts once',
        example: SPLIT_EXAMPLE.names,
      }),
    by: z.enum(SPLIT_BY).default('file').meta({ description: 'What the names are', example: 'file' }),
    total: z.int().min(1).max(SPLIT_TOTAL_MAX).meta({ description: 'How many groups', example: 2 }),
    index: z
      .int()
      .min(0)
      .nullish()
      .meta({ description: 'Only this group, counted from 0. Null or absent: all', example: 0 }),
    pipeline_name: name('CI'),
    job_name: name('unit'),
    axes: axesSchema
      .superRefine((axes, context) => {
        const problem = axesRejection(axes);
        if (problem !== null) context.addIssue({ code: 'custom', message: problem });
      })
      .nullish()
      .meta({ description: 'With pipeline and CI job, the leg whose times count', example: { os: 'linux' } }),
    run_id: name('1001').meta({
      description: `The run whose shards ask. All of them, and their later attempts, get the groups that the first was given, for ${SPLITS_KEPT_DAYS} days. Null or absent: nothing is kept`,
      example: '1001',
    }),
    list: name('unit').meta({
      description: 'Tells the lists of a CI job apart, if it splits several',
      example: 'unit',
    }),
  })
  .refine(({ index, total }) => (index ?? 0) < total, {
    path: ['index'],
    error: 'must be less than total: groups are counted from 0',
  });

const response = z.object({
  total: z.int().meta({ example: 2 }),
  index: z.int().nullable().meta({ description: 'Null: all groups', example: 0 }),
  names: z.int().meta({ description: 'Names of the list', example: 3 }),
  known: z.int().meta({ description: 'Those of which the time is known', example: 3 }),
  groups: z.array(
    z.object({
      index: z.int().meta({ example: 0 }),
      seconds: z.number().meta({ description: 'How long it will take one after the other', example: 41.2 }),
      names: z.array(z.string()).meta({ description: 'In order of the names', example: ['src/cart.test.ts'] }),
    }),
  ),
  warnings: z.array(z.string()).meta({
    description: 'Sentences about what may be wrong with the groups',
    example: [],
  }),
});

/** A split as it is kept: groups by the place of a name in the sorted list, because every shard brings the list. */
const splitSchema = z.object({
  groups: z.array(z.int()),
  seconds: z.array(z.number()),
  known: z.int(),
  warnings: z.array(z.string()),
});
type Split = z.infer<typeof splitSchema>;

const OTHER_LIST =
  'Shards of this run have asked with different lists: a test may run twice or never. Let every shard list the same names. If these are different lists on purpose, name them (--list).';
const NO_DURATIONS = 'The times of tests could not be read: groups are of equal size.';

/** Shards of a run ask within some seconds. */
const SHARED_MS = 60_000;
const SHARED_MAX = 100;

export function mountSplit(app: AnyElysia, http: Http, deps: InsightsDeps): void {
  const shared = new TtlCache<Split>(SHARED_MS, SHARED_MAX);
  mount(app, http, 'POST', '/v1/ci/:owner/repositories/:repository/split', {
    operationId: 'splitTests',
    tag: TAG,
    summary: 'Split a list of tests into groups of equal time',
    description: `A name takes as long as the median of the last ${SPLIT_DAYS} days on the default branch: in this leg, or in all if the leg has none. A file or a class is the sum of its tests. A new test takes the mean of its class or file; what nothing is known of takes the median of the other names. Every name is in exactly one group.`,
    access: 'read',
    isRateLimited: false,
    params: shortPath,
    body,
    bodyBytesMax: CHECK_BODY_BYTES_MAX,
    bodyExample: SPLIT_EXAMPLE,
    responses: { 200: { description: 'The groups, or the one that was asked for.', schema: response } },
    handle: async ({ params: { owner, repository }, body: asked }) => {
      const names = [...new Set(asked.names)].sort();
      const question = { ...asked, names };
      const path = { owner, name: repository };
      const make = () => makeSplit(deps, path, question);
      const { run_id: runId } = asked;
      const split = runId ? await splitOfRun(deps, path, { ...question, runId }, shared, make) : await make();
      return { body: answerOf(split, question) };
    },
  });
}

type Question = z.output<typeof body>;

const legOf = ({ pipeline_name, job_name, axes }: Question) => ({
  pipeline: pipeline_name ?? '',
  job: job_name ?? '',
  axes: axesText(axes ?? undefined),
});

/** The groups that the first shard of the run was given. */
async function splitOfRun(
  { db }: InsightsDeps,
  repository: RepositoryName,
  question: Question & { runId: string },
  shared: TtlCache<Split>,
  make: () => Promise<Split>,
): Promise<Split> {
  const runKey = splitKeyOf({
    pipelineName: question.pipeline_name ?? null,
    jobName: question.job_name ?? null,
    axes: legOf(question).axes,
    runId: question.runId,
    by: question.by,
    total: question.total,
    list: question.list ?? null,
  });
  const key = { repository, runKey, listKey: listKeyOf(question.names) };
  let found = await findSplit(db, key);
  if (found.split === undefined) {
    const path = `${repository.owner}/${repository.name}`.toLowerCase();
    const made = await shared.get(`${path} ${runKey} ${key.listKey}`, make);
    await keepSplit(db, key, JSON.stringify(made));
    await trimSplits(db, repository);
    found = await findSplit(db, key);
  }
  if (found.split === undefined) throw new Error('a split that was kept is gone');
  const split = splitSchema.parse(JSON.parse(found.split));
  return found.hasOtherLists ? { ...split, warnings: [...split.warnings, OTHER_LIST] } : split;
}

async function makeSplit(
  { clickhouse, names: testNames, repositories, clock }: InsightsDeps,
  { owner, name: repositoryName }: RepositoryName,
  question: Question,
): Promise<Split> {
  const { names, by, total } = question;
  const repository = await repositories.find(owner, repositoryName);
  const warnings: string[] = [];
  const asked = { names, by, leg: legOf(question), nowMs: clock.now() };
  const times = repository
    ? await readTimes({ clickhouse, names: testNames }, repository, asked).catch((error: unknown) => {
        if (!(error instanceof StoreUnavailable || error instanceof ReadRefused)) throw error;
        warnings.push(NO_DURATIONS);
        return NO_TIMES;
      })
    : NO_TIMES;
  const timed = timedNames(names, by, times);
  const groups = groupsOf(timed.names, total);
  const milliseconds = Array.from({ length: total }, () => 0);
  for (const one of timed.names) {
    const group = groups.get(one.name) ?? 0;
    milliseconds[group] = (milliseconds[group] ?? 0) + one.ms;
  }
  return {
    groups: names.map((one) => groups.get(one) ?? 0),
    seconds: milliseconds.map((ms) => ms / 1_000),
    known: timed.known,
    warnings,
  };
}

function answerOf(split: Split, { names, total, index }: Question): z.input<typeof response> {
  const only = index ?? null;
  const groups = split.seconds.map((seconds, group) => ({ index: group, seconds, names: [] as string[] }));
  for (const [place, one] of names.entries()) groups[split.groups[place] ?? 0]?.names.push(one);
  return {
    total,
    index: only,
    names: names.length,
    known: split.known,
    groups: only === null ? groups : groups.slice(only, only + 1),
    warnings: split.warnings,
  };
}
