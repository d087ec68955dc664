/** The environment of a GitHub Actions job, as clients read it. */

import { machine } from './run.ts';
import type { ClientService } from './service.ts';

export interface JobOptions {
  repository: string;
  branch?: string;
  runId?: string;
  runAttempt?: number;
  commit?: string;
  /** Instead of the service's own address. */
  url?: string;
}

const COMMIT = '1111111111111111111111111111111111111111';

/** The environment of a push to a branch of `acme/<repository>`, pipeline `CI`, job `unit`. */
export function jobEnvironment(
  service: Pick<ClientService, 'origin' | 'token'>,
  { repository, branch = 'main', runId = '1001', runAttempt = 1, commit = COMMIT, url = service.origin }: JobOptions,
): Record<string, string | undefined> {
  return {
    ...machine(),
    MERGIFY_API_URL: url,
    MERGIFY_TOKEN: service.token,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_REPOSITORY: `acme/${repository}`,
    GITHUB_WORKFLOW: 'CI',
    GITHUB_JOB: 'unit',
    GITHUB_RUN_ID: runId,
    GITHUB_RUN_ATTEMPT: String(runAttempt),
    GITHUB_SHA: commit,
    GITHUB_REF: `refs/heads/${branch}`,
    GITHUB_REF_NAME: branch,
    GITHUB_REF_TYPE: 'branch',
    GITHUB_EVENT_NAME: 'push',
    GITHUB_SERVER_URL: 'https://github.com',
    GITHUB_HEAD_REF: '',
    GITHUB_BASE_REF: '',
  };
}
