/** The snippets that the page of a new repository offers to copy, per CI. */
import { describe, expect, test } from 'bun:test';
import { YAML } from 'bun';
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
