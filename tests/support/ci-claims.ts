/** Claims of a job of GitHub Actions that a push to main started. */
export const githubClaims = (repository: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  aud: 'http://ci.test',
  jti: crypto.randomUUID(),
  sub: `repo:${repository}:ref:refs/heads/main`,
  repository,
  repository_owner: repository.split('/')[0],
  ref: 'refs/heads/main',
  ref_type: 'branch',
  sha: 'a'.repeat(40),
  event_name: 'push',
  head_ref: '',
  base_ref: '',
  run_id: '1001',
  run_attempt: '1',
  ...more,
});

/** GitHub changes these in a job of pull request 7. */
export const PULL_CLAIMS = {
  event_name: 'pull_request',
  ref: 'refs/pull/7/merge',
  head_ref: 'feature',
  base_ref: 'main',
  sha: 'b'.repeat(40),
};
