/** Recognises the CI provider by its environment. */
import { azure, bitbucket, buildkite, circleci, githubActions, gitlab, jenkins, travis } from './ci-providers.ts';
import { type Environment, NOTHING, type RunInfo } from './run-info.ts';

export type { Environment, RunInfo } from './run-info.ts';

/** Each sets its mark to something non-empty. Jenkins last: its agents may run inside what another one started. */
const PROVIDERS: readonly [mark: string, read: (env: Environment, event: unknown) => RunInfo][] = [
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
 * What the environment tells about the run, everything undefined outside of a known provider. `githubEvent` is the parsed
 * file at GITHUB_EVENT_PATH. Empty variables count as not set.
 *
 * @example
 * detectCi({ CIRCLECI: 'true', CIRCLE_JOB: 'unit' }).jobName // 'unit'
 */
export function detectCi(env: Environment, githubEvent?: unknown): RunInfo {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''));
  const provider = PROVIDERS.find(([mark]) => set[mark]);
  return provider ? provider[1](set, githubEvent) : NOTHING;
}
