/** The snippets that the page of a new repository offers to copy, per CI. */
import { describe, expect, test } from 'bun:test';
import { YAML } from 'bun';
import { ciIssuers, ciRules } from '../../src/ci-token-config.ts';
import { ciKindsFor } from '../../src/domain/ci-rules.ts';
import { recipesOf } from '../../web/pages/first-report-recipes.ts';

const ORIGIN = 'https://ci-insights.acme.example';
const recipes = recipesOf({ repository: 'acme/shop', origin: ORIGIN });

describe.each(recipes.map((recipe) => [recipe.ci, recipe] as const))('the recipe for %s', (_, { code, hint = '' }) => {
  test('names no branch, pull request or default branch: the environment of each job does', () => {
    expect(code + hint).not.toMatch(/--(?:branch|pull-request|default-branch|base-branch)/);
  });

  test('fetches the client from this service and pushes', () => {
    expect(code).toContain(ORIGIN);
    expect(code).toContain('CI_INSIGHTS_URL/cli/ci-insights.mjs" -o ci-insights.mjs');
    expect(code).toContain('node ci-insights.mjs push junit reports');
  });

  test('shows no key, and takes none from a command line', () => {
    expect(code).not.toMatch(/cii_|--token/);
  });
});

test('what is YAML can be read as such, and continues after failed tests', () => {
  const yaml = (ci: string) => YAML.parse(recipes.find((recipe) => recipe.ci === ci)?.code ?? '');
  expect(yaml('GitHub Actions')).toMatchObject([{ if: expect.stringContaining('!cancelled()') }]);
  expect(yaml('GitLab CI')).toMatchObject({ unit: { after_script: { length: 2 } } });
  expect(yaml('Buildkite')).toHaveProperty('steps.0.command', [
    'npm test || failed=$$?',
    'curl -fsS "$$CI_INSIGHTS_URL/cli/ci-insights.mjs" -o ci-insights.mjs',
    'node ci-insights.mjs push junit reports --repo acme/shop',
    'exit $${failed:-0}',
  ]);
  expect(yaml('CircleCI')).toMatchObject([{ run: { when: 'always' } }]);
  expect(yaml('Azure Pipelines')).toMatchObject([{ condition: 'succeededOrFailed()' }]);
  expect(yaml('Bitbucket Pipelines')).toMatchObject([{ step: { 'after-script': { length: 3 } } }]);
});

describe.each(recipes.flatMap((recipe) => (recipe.identity ? [[recipe.ci, recipe.identity] as const] : [])))(
  'the recipe for identity tokens of %s',
  (_, { kind, code, settings }) => {
    test('has no key', () => {
      expect(code).not.toMatch(/CI_INSIGHTS_TOKEN|secrets\./);
      expect(code).toContain('node ci-insights.mjs push junit reports');
    });

    test('starts the service with settings that take them for the repository', () => {
      const settingOf = (name: string): string =>
        (new RegExp(`^${name}='?([^'\n]*)`, 'm').exec(settings)?.[1] ?? '').replaceAll(/<(\w+)>/g, '$1');
      expect(settingOf('PUBLIC_URL')).toBe(ORIGIN);
      const issuers = ciIssuers.parse(settingOf('CI_TOKEN_ISSUERS'));
      const rules = ciRules.parse(settingOf('CI_TOKEN_ACCESS'));
      expect(ciKindsFor(issuers, rules, { owner: 'acme', name: 'shop' })).toEqual([kind]);
    });
  },
);

test('with identity tokens, GitHub and GitLab are asked for one', () => {
  const read = (ci: string) => YAML.parse(recipes.find((recipe) => recipe.ci === ci)?.identity?.code ?? '');
  expect(read('GitHub Actions')).toMatchObject({ permissions: { 'id-token': 'write' }, steps: [{}] });
  expect(read('GitLab CI')).toMatchObject({ unit: { id_tokens: { CI_INSIGHTS_ID_TOKEN: { aud: ORIGIN } } } });
});
