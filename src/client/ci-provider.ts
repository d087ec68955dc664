/** Recognises the CI provider by the environment. */

import type { Checkout } from './checkout.ts';
import { namedAxes, UNNAMED_AXIS } from './ci-axes.ts';
import { githubActions } from './ci-github.ts';
import { azure, bitbucket, buildkite, circleci, gitlab, jenkins, travis } from './ci-providers.ts';
import { type Environment, NOTHING, type RunInfo } from './run-info.ts';

export type { Environment, RunInfo } from './run-info.ts';

type Read = (env: Environment, event: unknown, checkout?: Checkout) => RunInfo;

/**
 * Each sets its mark to a non-empty value. Jenkins is last, because its agents may run inside jobs of another provider.
 */
const PROVIDERS: readonly [mark: string, read: Read][] = [
  ['GITHUB_ACTIONS', githubActions],
  ['GITLAB_CI', gitlab],
  ['BUILDKITE', buildkite],
  ['CIRCLECI', circleci],
  ['TF_BUILD', azure],
  ['BITBUCKET_BUILD_NUMBER', bitbucket],
  ['TRAVIS', travis],
  ['JENKINS_URL', jenkins],
];

/**
 * Reads the run from the environment; nothing if the provider is unknown. Empty variables count as not set.
 *
 * @param githubEvent the parsed file at GITHUB_EVENT_PATH
 * @param checkout the working copy of a job of GitHub
 * @example
 * detectCi({ CIRCLECI: 'true', CIRCLE_JOB: 'unit' }).jobName // 'unit'
 */
export function detectCi(env: Environment, githubEvent?: unknown, checkout?: Checkout): RunInfo {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const provider = PROVIDERS.find(([mark]) => set[mark]);
  return withAxes(provider ? provider[1](set, githubEvent, checkout) : NOTHING, set.CI_INSIGHTS_AXES);
}

/** Adds the axes that the job names: they count more than what the provider says. */
function withAxes(run: RunInfo, named: string | undefined): RunInfo {
  const { axes, place, warnings } = namedAxes(named);
  const { [UNNAMED_AXIS]: unnamed, ...others } = run.axes;
  const isNamed = unnamed === undefined || Object.keys(axes).length > 0;
  // Parts that a matrix makes write to the same path, like those of the provider.
  const parts = Object.values(place).join('-').replace(/\W+/g, '-') || undefined;
  return {
    ...run,
    axes: { ...axes, ...(isNamed ? others : run.axes), ...axes },
    place: { ...run.place, ...(run.shard !== undefined && { shard: run.shard }), ...place },
    shard: [run.shard, parts].filter((part) => part !== undefined).join('-') || undefined,
    warnings,
  };
}
