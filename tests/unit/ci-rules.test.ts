/** The rules of `CI_TOKEN_ACCESS`: the rights that they give to jobs of each CI; and the configuration of issuers. */
import { describe, expect, test } from 'bun:test';
import { readConfig } from '../../src/config.ts';
import { type CiKind, ciJobOf } from '../../src/domain/ci-claims.ts';
import { grantOfJob, parseCiRules } from '../../src/domain/ci-rules.ts';
import { githubClaims, PULL_CLAIMS } from '../support/ci-claims.ts';

/** The grant of a job of an issuer that has the name of its kind. */
function grantOf(rules: string, kind: CiKind, claims: Record<string, unknown>) {
  const parsed = parseCiRules(rules);
  if (!parsed) throw new Error(`${rules} are no rules`);
  const job = ciJobOf(kind, claims);
  return job && grantOfJob(parsed, kind, job, claims);
}
const SHA = 'a'.repeat(40);
const gitlabClaims = (more: Record<string, unknown> = {}) => ({
  project_path: 'acme/shop',
  pipeline_source: 'push',
  ref: 'main',
  ref_type: 'branch',
  ref_path: 'refs/heads/main',
  sha: SHA,
  ...more,
});
const buildkiteClaims = {
  organization_slug: 'acme',
  pipeline_slug: 'shop-ci',
  build_branch: 'main',
  build_tag: null,
  build_commit: SHA,
};
const circleciClaims = {
  'oidc.circleci.com/vcs-origin': 'github.com/acme/shop',
  'oidc.circleci.com/vcs-ref': 'refs/heads/main',
};

describe('a job speaks for its branch', () => {
  const ofMain = { branch: 'main', commit: SHA, pull_request: null, base_ref: null };

  test.each([
    ['github', githubClaims('acme/shop')],
    ['github', githubClaims('acme/shop', { event_name: 'schedule' })],
    ['gitlab', gitlabClaims()],
    ['gitlab', gitlabClaims({ pipeline_source: 'web' })],
  ] as const)('if a change of the branch started it: %s, %p', (kind, claims) => {
    expect(grantOf(`${kind}:acme ci *`, kind, claims)).toEqual({
      scope: 'ci',
      repository: { owner: 'acme', name: 'shop' },
      bounds: { pull_requests_only: false, branches: null, is_confined: true, run: ofMain },
    });
  });

  test('and a tag is no branch', () => {
    const tags = [
      grantOf('github:acme upload *', 'github', githubClaims('acme/shop', { ref: 'refs/tags/main', ref_type: 'tag' })),
      grantOf('gitlab:acme upload *', 'gitlab', gitlabClaims({ ref_type: 'tag', ref_path: 'refs/tags/main' })),
      grantOf('buildkite:acme upload * trust-ref', 'buildkite', { ...buildkiteClaims, build_tag: 'main' }),
    ];
    expect(tags.map((grant) => grant?.bounds.run.branch)).toEqual([null, null, null]);
  });

  test('and a word of the rule makes it so for events that say nothing about what ran', () => {
    for (const event_name of ['workflow_run', 'issue_comment', 'repository_dispatch']) {
      const claims = githubClaims('acme/shop', { event_name });
      expect(grantOf('github:acme ci *', 'github', claims)).toMatchObject({
        scope: 'upload',
        bounds: { pull_requests_only: true, run: {} },
      });
      expect(grantOf('github:acme ci * trust-ref', 'github', claims)).toMatchObject({
        scope: 'ci',
        bounds: { pull_requests_only: false, run: ofMain },
      });
    }
    for (const [kind, claims] of [
      ['buildkite', buildkiteClaims],
      ['circleci', circleciClaims],
      ['gitlab', gitlabClaims({ pipeline_source: 'parent_pipeline' })],
    ] as const) {
      expect(grantOf(`${kind}:acme upload *`, kind, claims)?.bounds.pull_requests_only).toBe(true);
      const trusted = grantOf(`${kind}:acme upload * trust-ref`, kind, claims);
      expect([trusted?.bounds.pull_requests_only, trusted?.bounds.run.branch]).toEqual([false, 'main']);
    }
  });

  test('and nothing makes it so for a pull request', () => {
    for (const [kind, claims] of [
      ['github', githubClaims('acme/shop', PULL_CLAIMS)],
      ['github', githubClaims('acme/shop', { event_name: 'pull_request_target', head_ref: 'main', base_ref: 'main' })],
      ['github', githubClaims('acme/shop', { ref: 'refs/pull/7/merge' })],
      ['gitlab', gitlabClaims({ pipeline_source: 'merge_request_event' })],
      ['gitlab', gitlabClaims({ ref_path: 'refs/merge-requests/7/merge' })],
      ['circleci', { ...circleciClaims, 'oidc.circleci.com/vcs-ref': 'refs/pull/7/head' }],
    ] as const)
      expect(grantOf(`${kind}:acme ci * trust-ref`, kind, claims)).toMatchObject({
        scope: 'upload',
        bounds: { pull_requests_only: true },
      });
  });
});

test('a pull request of GitHub is the one of the token, and its commit the word of the job', () => {
  expect(grantOf('github:acme upload *', 'github', githubClaims('acme/shop', PULL_CLAIMS))?.bounds.run).toEqual({
    branch: 'feature',
    base_ref: 'main',
    pull_request: 7,
  });
});

test('the first rule that fits decides, and what none fits gets nothing', () => {
  const rules =
    'github:acme/shop ci acme/shop ref=refs/heads/main environment=production; github:acme upload * ref=refs/heads/release/* evidence; github:Acme/Other view *';
  const of = (repository: string, more = {}) => grantOf(rules, 'github', githubClaims(repository, more));
  expect(of('acme/shop', { environment: 'production' })?.scope).toBe('ci');
  expect(of('acme/shop')).toBeUndefined();
  expect(of('acme/shop', { ref: 'refs/heads/release/1' })).toMatchObject({
    scope: 'upload',
    bounds: { is_confined: false },
  });
  expect(of('acme/shop', { ref: 'refs/heads/release/1/x' })).toBeUndefined();
  expect(of('ACME/other')?.scope).toBe('view');
  for (const repository of ['evil/shop', 'acme-evil/shop', 'evil/acme/shop', 'acme'])
    expect(of(repository)).toBeUndefined();
  expect(grantOf('gitlab:acme upload *', 'github', githubClaims('acme/shop'))).toBeUndefined();
  expect(grantOf('github:acme upload * toString=*', 'github', githubClaims('acme/shop'))).toBeUndefined();
});

test('a place puts a repository elsewhere, and groups become part of its name', () => {
  const nested = gitlabClaims({ project_path: 'acme/web/shop' });
  expect(grantOf('gitlab:acme upload *', 'gitlab', nested)?.repository).toEqual({ owner: 'acme', name: 'web.shop' });
  expect(grantOf('gitlab:acme/web upload corp', 'gitlab', nested)?.repository).toEqual({
    owner: 'corp',
    name: 'web.shop',
  });
  expect(grantOf('buildkite:acme/shop-ci upload acme/shop', 'buildkite', buildkiteClaims)?.repository).toEqual({
    owner: 'acme',
    name: 'shop',
  });
  expect(grantOf('circleci:acme upload *', 'circleci', circleciClaims)?.repository).toEqual({
    owner: 'acme',
    name: 'shop',
  });
});

test('a token without a claim that says whose job it is is of no use', () => {
  const without = (claims: Record<string, unknown>, name: string) => ({ ...claims, [name]: undefined });
  for (const name of ['repository', 'event_name', 'ref', 'jti'])
    expect(ciJobOf('github', without(githubClaims('acme/shop'), name))).toBeUndefined();
  for (const name of ['project_path', 'pipeline_source', 'ref', 'ref_type'])
    expect(ciJobOf('gitlab', without(gitlabClaims(), name))).toBeUndefined();
  expect(ciJobOf('github', githubClaims('acme/shop\u0000'))).toBeUndefined();
  for (const claims of [undefined, null, 'acme', []]) expect(ciJobOf('buildkite', claims)).toBeUndefined();
});

test.each([
  '',
  'github',
  'github:acme',
  'github:acme upload',
  'github:acme admin *',
  'github:acme upload * trust',
  'github:* upload *',
  'github:acme/ upload *',
  'acme upload *',
  'github:acme upload *; nonsense',
])('"%s" are no rules', (text) => expect(parseCiRules(text)).toBeUndefined());

describe('the configuration', () => {
  const read = (env: Record<string, string>) => readConfig(env).ciTokens;
  const RULES = { CI_TOKEN_ACCESS: 'github:acme upload *' };

  test('is off without issuers', () => expect(read({})).toBeUndefined());

  test('knows the addresses that everyone has, and takes your own', () => {
    const issuers =
      'github; own=gitlab:https://gitlab.acme.example; ghe=github:https://github.acme.example/_services/token';
    const read_ = read({ CI_TOKEN_ISSUERS: issuers, CI_TOKEN_AUDIENCE: 'one, two', ...RULES });
    expect(read_?.issuers).toEqual([
      { name: 'github', kind: 'github', url: 'https://token.actions.githubusercontent.com' },
      { name: 'own', kind: 'gitlab', url: 'https://gitlab.acme.example' },
      { name: 'ghe', kind: 'github', url: 'https://github.acme.example/_services/token' },
    ]);
    expect(read_?.audiences).toEqual(['one', 'two']);
    const byDefault = read({ CI_TOKEN_ISSUERS: 'github', PUBLIC_URL: 'https://ci.acme.example/', ...RULES });
    expect(byDefault?.audiences).toEqual(['https://ci.acme.example']);
  });

  test.each([
    [{ CI_TOKEN_ISSUERS: 'github', CI_TOKEN_AUDIENCE: 'x' }, 'CI_TOKEN_ISSUERS needs CI_TOKEN_ACCESS'],
    [{ CI_TOKEN_ISSUERS: 'github', ...RULES }, 'CI_TOKEN_ISSUERS needs CI_TOKEN_AUDIENCE or PUBLIC_URL'],
    [RULES, 'CI_TOKEN_ACCESS needs CI_TOKEN_ISSUERS'],
    [{ CI_TOKEN_ISSUERS: 'gitlab', CI_TOKEN_AUDIENCE: 'x', ...RULES }, 'names github, which is not among'],
    [{ CI_TOKEN_ISSUERS: 'circleci', CI_TOKEN_AUDIENCE: 'x', ...RULES }, 'CI_TOKEN_ISSUERS must be'],
    [{ CI_TOKEN_ISSUERS: 'github; github', CI_TOKEN_AUDIENCE: 'x', ...RULES }, 'CI_TOKEN_ISSUERS must be'],
    [
      { CI_TOKEN_ISSUERS: 'own=gitlab:http://gitlab.example', CI_TOKEN_AUDIENCE: 'x', ...RULES },
      'CI_TOKEN_ISSUERS must',
    ],
    [{ CI_TOKEN_ISSUERS: 'github', CI_TOKEN_AUDIENCE: ',', ...RULES }, 'CI_TOKEN_AUDIENCE must be'],
    [{ CI_TOKEN_ISSUERS: 'github', CI_TOKEN_AUDIENCE: 'x', CI_TOKEN_ACCESS: 'x' }, 'CI_TOKEN_ACCESS must be'],
  ])('%p is refused with what is wrong', (env, sentence) => expect(() => read(env)).toThrow(sentence));
});
