/**
 * Statuses of commits at GitLab, with a link: https://docs.gitlab.com/api/commits/#set-commit-pipeline-status. One that is
 * written again under its name takes the place of the one before. A status has no text and no annotations.
 */
import { z } from 'zod';
import type { CheckHost, CheckWritten, WantedCheck } from './check-host.ts';
import { CHECK_NAME } from './github-checks.ts';
import { HostApi } from './host-api.ts';

export interface GitlabCommit {
  /** Address of the REST API, without a trailing slash. */
  apiUrl: string;
  token: string;
  /** Number or path of the project that runs the pipeline. */
  project: string;
  commit: string;
  /** Undefined: the newest pipeline of the commit. */
  pipelineId: string | undefined;
}

const ADDRESS_LENGTH_MAX = 255;

const statusesSchema = z.array(
  z.object({
    id: z.number(),
    name: z.string(),
    status: z.string(),
    description: z.string().nullish(),
    target_url: z.string().nullish(),
  }),
);

export class GitlabStatus implements CheckHost {
  readonly subject: string;
  readonly #api: HostApi;

  constructor(private readonly place: GitlabCommit) {
    this.subject = `the status of ${place.commit.slice(0, 12)}`;
    this.#api = new HostApi({
      name: 'GitLab',
      url: place.apiUrl,
      token: place.token,
      hint: 'It needs a project access token with the scope api and the role Developer or higher, which jobs of forks do not see',
    });
  }

  async write({ conclusion, title, url }: WantedCheck): Promise<CheckWritten> {
    const { project, commit, pipelineId } = this.place;
    const path = `/projects/${encodeURIComponent(project)}`;
    const ofPipeline = pipelineId === undefined ? {} : { pipeline_id: pipelineId };
    const asked = new URLSearchParams({ name: CHECK_NAME, per_page: '100', ...ofPipeline });
    const statuses = await this.#api.ask(
      `${path}/repository/commits/${encodeURIComponent(commit)}/statuses?${asked}`,
      statusesSchema,
    );
    const [newest] = statuses.filter(({ name }) => name === CHECK_NAME).sort((one, other) => other.id - one.id);
    const state = conclusion === 'success' ? 'success' : 'failed';
    const target = url.length > ADDRESS_LENGTH_MAX ? {} : { target_url: url };
    if (newest?.status === state && newest.description === title && (newest.target_url ?? url) === url)
      return 'unchanged';
    const json = { state, name: CHECK_NAME, description: title, ...target, ...ofPipeline };
    await this.#api.ask(`${path}/statuses/${encodeURIComponent(commit)}`, z.unknown(), { method: 'POST', json });
    return newest ? 'updated' : 'created';
  }
}
