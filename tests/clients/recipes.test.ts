/** The recipes of docs/producers.md, run as written; a CI provider is simulated by its environment variables. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync, YAML } from 'bun';
import { otlpProtobuf } from '../support/otlp.ts';
import { PASSING, REPORT } from './support/cart-report.ts';
import { recipe } from './support/recipes.ts';
import { machine, type Ran, run } from './support/run.ts';
import { freshRepository, ROOT, sharedService } from './support/service.ts';

interface Found {
  tests: { test_id: string; test_name: string; pipeline_name: string; job_name: string }[];
}

/** Where the recipes' test runners write their reports. */
const REPORTS = ['reports/unit.xml'];

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-recipes-'));
  for (const report of REPORTS) {
    mkdirSync(dirname(join(folder, report)), { recursive: true });
    writeFileSync(join(folder, report), REPORT);
  }
  mkdirSync(join(folder, 'bin'));
  const program = (name: string, text: string): void => {
    writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder, 'bin', name), 0o755);
  };
  // It writes the reports again, and its tests fail.
  program('npm', 'touch reports/unit.xml; exit 1');
  const git = (...args: string[]) => run(['git', '-C', folder, ...args], { env: machine() });
  await git('init', '--quiet');
  await git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'commit', '--quiet', '--allow-empty', '-m', 'first');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function shell(command: string, variables: Record<string, string>): Promise<Ran> {
  const service = await sharedService();
  const { PATH, ...rest } = machine();
  const env = {
    ...rest,
    PATH: `${folder}/bin:${PATH}`,
    CI_INSIGHTS_URL: service.origin,
    CI_INSIGHTS_TOKEN: service.token,
  };
  return run(['bash', '-c', command], { cwd: folder, env: { ...env, ...variables } });
}

/** Where the tests of the report are found. */
async function identityOf(repository: string): Promise<{ pipeline: string; job: string; tests: number }> {
  const service = await sharedService();
  const path = `/v1/ci/acme/repositories/${repository}/search/tests?test_name=*`;
  const { tests } = await service.until<Found>(path, (found) => found.tests.length === 4);
  return { pipeline: tests[0]?.pipeline_name ?? '', job: tests[0]?.job_name ?? '', tests: tests.length };
}

const COMMIT = 'ffac537e6cbbf934b08745a378932722df287a53';

const yamlOf = <T>(heading: string): T => YAML.parse(recipe(heading, 'yaml')) as T;

interface Action {
  inputs: Record<string, { default?: string }>;
  runs: { steps: { run: string }[] };
}
const action = (): Action => YAML.parse(readFileSync(join(ROOT, 'action/action.yml'), 'utf8')) as Action;

/** The environment that the action makes of its inputs, as the recipe gives them, except for the address and the key. */
function inputsOf(heading: string): Record<string, string> {
  interface Workflow {
    jobs: { unit: { steps: { with?: Record<string, string> }[] } };
  }
  const given = yamlOf<Workflow>(heading).jobs.unit.steps.find((step) => step.with)?.with ?? {};
  const { inputs } = action();
  expect(Object.keys(given).filter((name) => !Object.hasOwn(inputs, name))).toEqual([]);
  const names = Object.keys(inputs).filter((name) => name !== 'url' && name !== 'token');
  return Object.fromEntries(
    names.map((name) => [
      `INPUT_${name.toUpperCase().replaceAll('-', '_')}`,
      // As GitHub has it in a job without a matrix.
      (given[name] ?? inputs[name]?.default ?? '').replace(/^\$\{\{ toJSON\(matrix\) \}\}$/, 'null'),
    ]),
  );
}

/** The command of the recipe, and the provider's environment in a job of a push to `main`. */
const providers: [
  name: string,
  command: () => string,
  variables: (repository: string) => Record<string, string>,
  expected: { pipeline: string; job: string },
][] = [
  [
    'GitHub Actions',
    () => action().runs.steps[0]?.run ?? '',
    (repository) => ({
      CI: 'true',
      ...inputsOf('### GitHub Actions'),
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: `acme/${repository}`,
      GITHUB_WORKFLOW: 'CI',
      GITHUB_JOB: 'unit',
      GITHUB_RUN_ID: '1658821493',
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_SHA: COMMIT,
      GITHUB_REF: 'refs/heads/main',
      GITHUB_REF_NAME: 'main',
      GITHUB_REF_TYPE: 'branch',
      GITHUB_HEAD_REF: '',
      GITHUB_BASE_REF: '',
    }),
    { pipeline: 'CI', job: 'unit' },
  ],
  [
    'GitLab CI',
    () => yamlOf<{ unit: { script: string[] } }>('### GitLab CI').unit.script.join('\n'),
    (repository) => ({
      CI: 'true',
      GITLAB_CI: 'true',
      CI_PROJECT_PATH: `acme/${repository}`,
      CI_PIPELINE_ID: '91',
      CI_JOB_ID: '4711',
      CI_JOB_NAME: 'unit 1/4',
      CI_NODE_INDEX: '1',
      CI_NODE_TOTAL: '4',
      CI_COMMIT_SHA: COMMIT,
      CI_COMMIT_BRANCH: 'main',
      CI_DEFAULT_BRANCH: 'main',
    }),
    { pipeline: 'GitLab CI', job: 'unit' },
  ],
  [
    'Jenkins',
    () => [...recipe('### Jenkins', 'groovy').matchAll(/sh '([^']+)'/g)].map(([, line]) => line).join('\n'),
    (repository) => ({
      JENKINS_URL: 'https://jenkins.acme.example/',
      JOB_NAME: 'shop/main',
      BRANCH_NAME: 'main',
      BRANCH_IS_PRIMARY: 'true',
      STAGE_NAME: 'Unit tests',
      BUILD_NUMBER: '12',
      GIT_COMMIT: COMMIT,
      GIT_URL: `https://git.acme.example/acme/${repository}.git`,
    }),
    { pipeline: 'shop', job: 'Unit tests' },
  ],
  [
    'Buildkite',
    // A dollar is doubled, because the agent replaces variables when it reads the file.
    () =>
      yamlOf<{ steps: { command: string[] }[] }>('### Buildkite').steps[0]?.command.join('\n').replaceAll('$$', '$') ??
      '',
    (repository) => ({
      CI: 'true',
      BUILDKITE: 'true',
      BUILDKITE_REPO: `git@github.com:acme/${repository}.git`,
      BUILDKITE_PIPELINE_NAME: 'Shop',
      BUILDKITE_STEP_KEY: 'unit',
      BUILDKITE_BUILD_ID: '0190c0a8-5c1e-4b1c-8f5d-1f2e3d4c5b6a',
      BUILDKITE_RETRY_COUNT: '0',
      BUILDKITE_COMMIT: COMMIT,
      BUILDKITE_BRANCH: 'main',
      BUILDKITE_PULL_REQUEST: 'false',
      BUILDKITE_PIPELINE_DEFAULT_BRANCH: 'main',
      BUILDKITE_PARALLEL_JOB: '0',
      BUILDKITE_PARALLEL_JOB_COUNT: '4',
    }),
    { pipeline: 'Shop', job: 'unit' },
  ],
  [
    'CircleCI',
    () => {
      const { steps } = yamlOf<{ jobs: { unit: { steps: (string | { run: string })[] } } }>('### CircleCI').jobs.unit;
      return steps.flatMap((step) => (typeof step === 'object' ? [step.run] : [])).join('\n');
    },
    (repository) => ({
      CI: 'true',
      CIRCLECI: 'true',
      CIRCLE_PROJECT_USERNAME: 'acme',
      CIRCLE_PROJECT_REPONAME: repository,
      CIRCLE_JOB: 'unit',
      CIRCLE_WORKFLOW_ID: '5f1c3c1e-5c1e-4b1c-8f5d-1f2e3d4c5b6a',
      CIRCLE_SHA1: COMMIT,
      CIRCLE_BRANCH: 'main',
    }),
    { pipeline: 'CircleCI', job: 'unit' },
  ],
  [
    'Azure Pipelines',
    () => yamlOf<{ steps: { script: string }[] }>('### Azure Pipelines').steps[0]?.script ?? '',
    (repository) => ({
      TF_BUILD: 'True',
      BUILD_REPOSITORY_NAME: `acme/${repository}`,
      BUILD_DEFINITIONNAME: 'Shop',
      SYSTEM_JOBNAME: 'unit',
      BUILD_BUILDID: '4711',
      SYSTEM_JOBATTEMPT: '1',
      BUILD_SOURCEVERSION: COMMIT,
      BUILD_SOURCEBRANCH: 'refs/heads/main',
    }),
    { pipeline: 'Shop', job: 'unit' },
  ],
];

describe.each(providers)('the recipe for %s', (name, command, variables, { pipeline, job }) => {
  test('sends the report of a push to main under its pipeline and job, and fails for failures that are not excused', async () => {
    const repository = freshRepository('recipe');
    const shown = command();
    expect(shown).toContain('gate');
    const ran = await shell(shown.replaceAll('acme/shop', `acme/${repository}`), variables(repository));
    expect([name, ran.code, ran.printed]).toEqual([name, 1, expect.stringContaining('2 of 4 tests failed: 2 new.')]);
    expect(await identityOf(repository)).toEqual({ pipeline, job, tests: 4 });
  });
});

test('without the service, the action for GitHub runs the tests, and their result stands', async () => {
  const [step] = action().runs.steps;
  const fails = await shell(step?.run ?? '', {
    ...inputsOf('### GitHub Actions'),
    CI_INSIGHTS_URL: 'http://127.0.0.1:9',
  });
  expect([fails.code, fails.stdout]).toEqual([1, expect.stringContaining('::warning::ci-insights cannot be reached')]);
  const passes = { ...inputsOf('### GitHub Actions'), INPUT_RUN: 'true', CI_INSIGHTS_URL: 'http://127.0.0.1:9' };
  expect((await shell(step?.run ?? '', passes)).code).toBe(0);
  const { INPUT_RUN: _, ...inputs } = passes;
  const judges = { ...inputs, INPUT_RUN: '' };
  expect((await shell(step?.run ?? '', judges)).code).toBe(0);
  expect((await shell(step?.run ?? '', { ...judges, INPUT_OUTCOME: 'success' })).code).toBe(0);
  expect((await shell(step?.run ?? '', { ...judges, INPUT_OUTCOME: 'failure' })).code).toBe(1);
});

test('the action for GitHub keeps the key from the tests, with the service and without it', async () => {
  const [step] = action().runs.steps;
  const asks = { ACTIONS_ID_TOKEN_REQUEST_URL: 'https://token.example', ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'asks' };
  const run = 'env | grep -c -E "^(CI_INSIGHTS_TOKEN|ACTIONS_ID_TOKEN)"; true';
  const inputs = { ...inputsOf('### GitHub Actions'), ...asks, INPUT_RUN: run };
  const away = { CI_INSIGHTS_URL: 'http://127.0.0.1:9' };
  const seen = async (variables: Record<string, string>) =>
    /^(\d+)$/m.exec((await shell(step?.run ?? '', { ...inputs, ...variables })).stdout)?.[1];
  expect([await seen({}), await seen(away)]).toEqual(['0', '0']);
  const passing = { INPUT_PASS_TOKEN: 'true' };
  expect([await seen(passing), await seen({ ...passing, ...away })]).toEqual(['3', '3']);
});

test('the action has an input for each variable that it reads', () => {
  const { inputs, runs } = action();
  const read = new Set([...(runs.steps[0]?.run ?? '').matchAll(/INPUT_\w+/g)].map(([name]) => name));
  const given = Object.keys(inputs).map((name) => `INPUT_${name.toUpperCase().replaceAll('-', '_')}`);
  expect([...read].sort()).toEqual(given.filter((name) => name !== 'INPUT_URL' && name !== 'INPUT_TOKEN').sort());
});

test('the curl of the document uploads a report', async () => {
  const repository = freshRepository('recipe');
  const ran = await shell(
    recipe('## Reports with curl', 'sh').replace('repositories/shop', `repositories/${repository}`),
    {},
  );
  expect([ran.code, ran.stdout]).toEqual([0, expect.stringContaining('"status":"queued"')]);
  expect(await identityOf(repository)).toEqual({ pipeline: 'CI', job: 'unit', tests: 4 });
});

describe('the exporter of an OpenTelemetry collector', () => {
  interface Exporter {
    traces_endpoint: string;
    headers: Record<string, string>;
  }

  test("has an address and headers with which a collector's OTLP arrives", async () => {
    const repository = freshRepository('recipe');
    const service = await sharedService();
    const config = recipe('### From an OpenTelemetry collector', 'yaml')
      .replaceAll(/\$\{env:CI_INSIGHTS_URL\}/g, service.origin)
      .replaceAll(/\$\{env:CI_INSIGHTS_TOKEN\}/g, service.token)
      .replaceAll('repositories/shop', `repositories/${repository}`);
    const { exporters, service: described } = YAML.parse(config) as {
      exporters: Record<string, Exporter>;
      service: { pipelines: { traces: { exporters: string[] } } };
    };
    const exporter = exporters[described.pipelines.traces.exporters[0] ?? ''];
    if (!exporter) throw new Error('the pipeline has no exporter that is described');
    const body = otlpProtobuf({
      resource: {
        'cicd.pipeline.name': 'CI',
        'cicd.pipeline.task.name': 'unit',
        'cicd.pipeline.run.id': 'run-1',
        'vcs.ref.head.name': 'main',
        'vcs.ref.head.revision': COMMIT,
      },
      spans: [{ name: PASSING, attributes: { 'test.case.result.status': 'passed' } }],
    });
    // The defaults of otlphttp: protobuf, gzip.
    const headers = { ...exporter.headers, 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' };
    const response = await fetch(exporter.traces_endpoint, { method: 'POST', headers, body: gzipSync(body) });
    expect(response.status).toBe(200);
    const path = `/v1/ci/acme/repositories/${repository}/search/tests?test_name=*`;
    const { tests } = await service.until<Found>(path, (found) => found.tests.length === 1);
    expect(tests).toMatchObject([{ test_name: PASSING, pipeline_name: 'CI', job_name: 'unit' }]);
  });
});
