/** Recognises the CI provider by the environment. */
import type { Checkout } from './checkout.ts';
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
  return provider ? provider[1](set, githubEvent, checkout) : NOTHING;
}
