/** Which shard of which run this job is: from flags, else from the environment of its CI provider. */
import type { Axes } from '../../domain/axes.ts';
import { SPLIT_TOTAL_MAX } from '../../domain/split.ts';
import { UserError } from '../../errors.ts';
import { type RunInfo, wholeOf } from '../run-info.ts';
import type { TargetFlags } from '../target.ts';

export interface ShardFlags extends TargetFlags {
  total?: number;
  index?: number;
  pipeline?: string;
  job?: string;
  axis?: Axes;
  runId?: string;
  list?: string;
}

export interface Shard {
  total: number;
  /** From 0 on. */
  index: number;
}

type Variables = Readonly<Record<string, string | undefined>>;

interface ShardVariables {
  total: string;
  index: string;
  /** The number of the first shard. */
  first: 0 | 1;
}

/** The documented variables of providers that number the parts of a job. */
const PROVIDERS: readonly ShardVariables[] = [
  { total: 'CIRCLE_NODE_TOTAL', index: 'CIRCLE_NODE_INDEX', first: 0 },
  { total: 'BUILDKITE_PARALLEL_JOB_COUNT', index: 'BUILDKITE_PARALLEL_JOB', first: 0 },
  { total: 'CI_NODE_TOTAL', index: 'CI_NODE_INDEX', first: 1 },
  { total: 'BITBUCKET_PARALLEL_STEP_COUNT', index: 'BITBUCKET_PARALLEL_STEP', first: 0 },
  { total: 'SYSTEM_TOTALJOBSINPHASE', index: 'SYSTEM_JOBPOSITIONINPHASE', first: 1 },
];

/** Throws a {@link UserError} that names the missing flags. */
export function shardOf(flags: Pick<ShardFlags, 'total' | 'index'>, variables: Variables): Shard {
  const said = PROVIDERS.find(({ total, index }) => variables[total] && variables[index]);
  const given = said && wholeOf(variables[said.index]);
  // One flag alone would be mixed with a number that was not meant for it.
  const isGiven = flags.total !== undefined || flags.index !== undefined;
  const total = isGiven ? flags.total : said && wholeOf(variables[said.total]);
  const index = isGiven ? flags.index : said && given !== undefined ? given - said.first : undefined;
  if (total === undefined || index === undefined)
    throw new UserError(
      isGiven
        ? 'Pass both --total and --index.'
        : 'The environment does not say which part of the job this is: pass --total, and --index from 0 on.',
    );
  if (total < 1 || total > SPLIT_TOTAL_MAX || index < 0 || index >= total)
    throw new UserError(
      `There is no part ${index} of ${total}: parts are counted from 0, and at most ${SPLIT_TOTAL_MAX}.`,
    );
  return { total, index };
}

/** The run that all shards have in common. GitLab and Travis give each of them a job id, which uploads go by. */
export function runIdOf(flags: Pick<ShardFlags, 'runId'>, run: RunInfo, variables: Variables): string {
  const shared: Readonly<Record<string, string | undefined>> = {
    'GitLab CI': variables.CI_PIPELINE_ID,
    'Travis CI': variables.TRAVIS_BUILD_ID,
  };
  const runId = flags.runId ?? (Object.hasOwn(shared, run.provider) ? shared[run.provider] : run.runId);
  if (!runId)
    throw new UserError('The environment does not name the run: pass --run-id, the same in every part of the job.');
  return runId;
}
