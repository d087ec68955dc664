/**
 * How each CI sends its first report, to copy. No recipe names a branch: the client reads it from the environment, and a
 * fixed one would make every pull request a run of that branch.
 */
import type { CiKind } from '../../src/domain/ci-claims.ts';

export interface Recipe {
  ci: string;
  /** Where the address and the key go; `secret` is there to copy. */
  secret: string;
  /** Where the code goes. */
  place: string;
  code: string;
  hint?: string;
  /** Where jobs can say who they are: then they need no key. */
  identity?: IdentityRecipe;
}

interface IdentityRecipe {
  kind: CiKind;
  place: string;
  code: string;
  hint?: string;
  /** What the service is started with, so that it takes their tokens for this repository. */
  settings: string;
}

interface About {
  /** `acme/shop` */
  repository: string;
  /** Address of the service. */
  origin: string;
}

/** @param access a rule: whose jobs, and where, unless it is where the CI has it */
const settingsOf = (origin: string, issuer: string, access: string): string =>
  `PUBLIC_URL=${origin}
CI_TOKEN_ISSUERS='${issuer}'
CI_TOKEN_ACCESS='${access}'`;

const FETCH = 'curl -fsS "$CI_INSIGHTS_URL/cli/ci-insights.mjs" -o ci-insights.mjs';
const PUSH = 'node ci-insights.mjs push junit reports';

export const recipesOf = ({ repository, origin }: About): readonly Recipe[] => [
  {
    ci: 'GitHub Actions',
    secret: 'Settings, Secrets and variables, Actions: a repository secret CI_INSIGHTS_TOKEN',
    place: 'As a step after the tests in .github/workflows/ci.yml',
    code: `- name: Send test reports
  if: \${{ !cancelled() && github.event.pull_request.head.repo.fork != true }}
  env:
    CI_INSIGHTS_URL: ${origin}
    CI_INSIGHTS_TOKEN: \${{ secrets.CI_INSIGHTS_TOKEN }}
  run: |
    ${FETCH}
    ${PUSH}`,
    hint: 'Legs of a matrix share a job name: add --job with the leg in it. Jobs for forks have no secrets.',
    identity: {
      kind: 'github',
      place: 'In the job that runs the tests in .github/workflows/ci.yml',
      code: `permissions:
  contents: read
  id-token: write
steps:
  # … after the tests:
  - name: Send test reports
    if: \${{ !cancelled() && github.event.pull_request.head.repo.fork != true }}
    env:
      CI_INSIGHTS_URL: ${origin}
    run: |
      ${FETCH}
      ${PUSH}`,
      hint: 'Legs of a matrix share a job name: add --job with the leg in it. Jobs for forks have no identity token.',
      settings: settingsOf(origin, 'github', `github:${repository} upload *`),
    },
  },
  {
    ci: 'GitLab CI',
    secret: 'Settings, CI/CD, Variables: CI_INSIGHTS_TOKEN, masked',
    place: 'In the job that runs the tests in .gitlab-ci.yml',
    code: `unit:
  variables:
    CI_INSIGHTS_URL: ${origin}
  script:
    - npm test
  after_script:
    - ${FETCH}
    - ${PUSH} --repo ${repository}`,
    identity: {
      kind: 'gitlab',
      place: 'In the job that runs the tests in .gitlab-ci.yml',
      code: `unit:
  id_tokens:
    CI_INSIGHTS_ID_TOKEN:
      aud: ${origin}
  variables:
    CI_INSIGHTS_URL: ${origin}
  script:
    - npm test
  after_script:
    - ${FETCH}
    - ${PUSH} --repo ${repository}`,
      hint: 'For a GitLab of your own, name it: CI_TOKEN_ISSUERS=own=gitlab:https://gitlab.example.com, and own: in the rule.',
      settings: settingsOf(origin, 'gitlab', `gitlab:${repository} upload *`),
    },
  },
  {
    ci: 'Jenkins',
    secret: 'Manage Jenkins, Credentials: a secret text with the id ci-insights',
    place: 'In the stage that runs the tests in the Jenkinsfile',
    code: `post {
  always {
    withEnv(['CI_INSIGHTS_URL=${origin}']) {
      withCredentials([string(credentialsId: 'ci-insights', variable: 'CI_INSIGHTS_TOKEN')]) {
        sh '${FETCH}'
        sh '${PUSH} --repo ${repository}'
      }
    }
  }
}`,
    hint: 'GIT_COMMIT is in the environment only if Jenkins did the checkout; else add --commit.',
  },
  {
    ci: 'Buildkite',
    secret: 'A secret CI_INSIGHTS_TOKEN of the cluster, or an environment hook of the agents',
    place: 'In .buildkite/pipeline.yml',
    code: `steps:
  - key: unit
    env:
      CI_INSIGHTS_URL: ${origin}
    command:
      - npm test || failed=$$?
      - ${FETCH.replace('$', '$$$$')}
      - ${PUSH} --repo ${repository}
      - exit $\${failed:-0}`,
    identity: {
      kind: 'buildkite',
      place: 'In .buildkite/pipeline.yml',
      code: `steps:
  - key: unit
    env:
      CI_INSIGHTS_URL: ${origin}
    command:
      - npm test || failed=$$?
      - ${FETCH.replace('$', '$$$$')}
      - ${PUSH} --repo ${repository}
      - exit $\${failed:-0}`,
      hint: 'Its token names the organization and the pipeline: put yours into the rule.',
      settings: settingsOf(origin, 'buildkite', `buildkite:<organization>/<pipeline> upload ${repository}`),
    },
  },
  {
    ci: 'CircleCI',
    secret: 'Project settings, Environment variables: CI_INSIGHTS_TOKEN',
    place: 'As a step after the tests in .circleci/config.yml',
    code: `- run:
    name: Send test reports
    when: always
    environment:
      CI_INSIGHTS_URL: ${origin}
    command: |
      ${FETCH}
      ${PUSH} --repo ${repository}`,
    identity: {
      kind: 'circleci',
      place: 'As a step after the tests in .circleci/config.yml',
      code: `- run:
    name: Send test reports
    when: always
    environment:
      CI_INSIGHTS_URL: ${origin}
    command: |
      ${FETCH}
      ${PUSH} --repo ${repository}`,
      hint: 'The audience of its token is the id of the organization, so the service must be told it.',
      settings: `${settingsOf(origin, 'circle=circleci:https://oidc.circleci.com/org/<id>', `circle:${repository} upload *`)}
CI_TOKEN_AUDIENCE='${origin},<id>'`,
    },
  },
  {
    ci: 'Azure Pipelines',
    secret: 'Pipeline, Variables: CI_INSIGHTS_TOKEN, kept secret',
    place: 'As a step after the tests in azure-pipelines.yml',
    code: `- script: |
    ${FETCH}
    ${PUSH} --repo ${repository}
  condition: succeededOrFailed()
  env:
    CI_INSIGHTS_URL: ${origin}
    CI_INSIGHTS_TOKEN: $(CI_INSIGHTS_TOKEN)`,
  },
  {
    ci: 'Bitbucket Pipelines',
    secret: 'Repository settings, Repository variables: CI_INSIGHTS_TOKEN, secured',
    place: 'In the step that runs the tests in bitbucket-pipelines.yml',
    code: `- step:
    name: unit
    script:
      - npm test
    after-script:
      - export CI_INSIGHTS_URL=${origin}
      - ${FETCH}
      - ${PUSH} --repo ${repository} --job unit`,
  },
  {
    ci: 'Shell',
    secret: 'In the environment: CI_INSIGHTS_TOKEN',
    place: 'After the tests',
    code: `export CI_INSIGHTS_URL=${origin}
${FETCH}
${PUSH} --repo ${repository} --pipeline local --job unit \\
  --run-id "$(date +%s)" --commit "$(git rev-parse HEAD)"`,
    hint: 'Results without a branch count for none. A script that tests one adds it as an option: ci-insights push junit --help.',
  },
];
