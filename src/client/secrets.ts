/** Variables of a CI job that let their reader speak for it. Tests, and what they depend on, must not. */

const SECRET: ReadonlySet<string> = new Set([
  'CI_INSIGHTS_TOKEN',
  'CI_INSIGHTS_TOKEN_FILE',
  // For the comment on the pull request.
  'CI_INSIGHTS_COMMENT_TOKEN',
  // Identity tokens of the CI provider, and what asks it for one.
  'CI_INSIGHTS_ID_TOKEN',
  'ACTIONS_ID_TOKEN_REQUEST_TOKEN',
  'ACTIONS_ID_TOKEN_REQUEST_URL',
  // With it, buildkite-agent gives one to any program that asks.
  'BUILDKITE_AGENT_ACCESS_TOKEN',
  'CIRCLE_OIDC_TOKEN',
  'CIRCLE_OIDC_TOKEN_V2',
]);

type Variables = Readonly<Record<string, string | undefined>>;

/** Windows does not tell upper from lower case in the names of variables. */
export const withoutSecrets = (variables: Variables): Variables =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => !SECRET.has(name.toUpperCase())));
