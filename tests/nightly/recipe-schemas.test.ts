/** The recipes of docs/producers.md, the action and our own workflows, checked by what the providers publish. */
import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pythonEnvironment } from '../clients/support/python.ts';
import { recipe } from '../clients/support/recipes.ts';
import { machine, run } from '../clients/support/run.ts';
import { ROOT } from '../clients/support/service.ts';
import { makeFolder } from '../support/folder.ts';
import { goProgram } from '../tools/go-program.ts';

const folder = makeFolder('recipes');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const WORKFLOWS = join(ROOT, '.github/workflows');
const workflows = readdirSync(WORKFLOWS).map((file) => join(WORKFLOWS, file));

const linter = await pythonEnvironment('recipes');
/** The schemas that the providers publish; Jenkins has a parser only in its server. */
const SCHEMAS: [heading: string, schema: string][] = [
  ['### GitHub Actions', 'vendor.github-workflows'],
  ['### GitLab CI', 'vendor.gitlab-ci'],
  ['### Buildkite', 'vendor.buildkite'],
  ['### CircleCI', 'vendor.circle-ci'],
  ['### Azure Pipelines', 'vendor.azure-pipelines'],
];

describe.skipIf(!linter)('the schemas of the providers', () => {
  const check = (file: string, schema: string) =>
    run([join(linter?.bin ?? '', 'check-jsonschema'), '--builtin-schema', schema, file], { env: machine() });

  test('accept every recipe, the action, and the workflows', async () => {
    const checks = SCHEMAS.map(async ([heading, schema]) => {
      const file = join(folder, `${schema}.yml`);
      writeFileSync(file, recipe(heading, 'yaml'));
      return check(file, schema);
    });
    checks.push(check(join(ROOT, 'action/action.yml'), 'vendor.github-actions'));
    for (const file of workflows) checks.push(check(file, 'vendor.github-workflows'));
    for (const { code, printed } of await Promise.all(checks)) expect([code, printed]).toEqual([0, expect.any(String)]);
  });

  test('refuse what is wrong', async () => {
    const file = join(folder, 'wrong.yml');
    writeFileSync(file, recipe('### GitHub Actions', 'yaml').replace('steps:', 'stepz:'));
    expect((await check(file, 'vendor.github-workflows')).code).toBe(1);
  });
});

const actionlint = await goProgram('github.com/rhysd/actionlint/cmd/actionlint@v1.7.12');

test.skipIf(!actionlint)(
  'actionlint finds nothing in the recipe for GitHub Actions and in the workflows, and a fault that is put there',
  async () => {
    // Shell scripts are checked by another program, which not every machine has.
    const lint = (input: string) =>
      run([actionlint ?? '', '-no-color', '-shellcheck=', '-pyflakes=', '-'], { env: machine(), input });
    const text = recipe('### GitHub Actions', 'yaml');
    for (const one of [text, ...workflows.map((file) => readFileSync(file, 'utf8'))]) {
      const { code, printed } = await lint(one);
      expect([code, printed]).toEqual([0, '']);
    }
    const wrong = text.replace('https://ci-insights.acme.example', `\${{ secret.URL }}`);
    expect((await lint(wrong)).printed).toContain('undefined variable');
  },
);
