/**
 * Statuses of commits at GitLab, with a link: https://docs.gitlab.com/api/commits/#set-commit-pipeline-status. One that is
 * written again under its name takes the place of the one before. A status has no text and no annotations.
 */
import { z } from 'zod';
import type { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';
import { CHECK_NAME, type CheckHost, type CheckWritten, type WantedCheck } from '../writes/check-host.ts';
import { gitlabRest, projectPath } from './rest.ts';

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
  readonly #rest: HostRest;

  constructor(
    private readonly place: RemotePlace,
    private readonly commit: string,
  ) {
    this.subject = `the status of ${commit.slice(0, 12)}`;
    this.#rest = gitlabRest(
      place,
      'It needs a project access token with the scope api and the role Developer or higher, which jobs of forks do not see',
    );
  }

  async write({ conclusion, title, url }: WantedCheck): Promise<CheckWritten> {
    const { commit } = this;
    const { project, id: pipelineId } = this.place.pipeline ?? { project: this.place.path };
    const path = projectPath(project);
    const ofPipeline = pipelineId === undefined ? {} : { pipeline_id: pipelineId };
    const asked = new URLSearchParams({ name: CHECK_NAME, per_page: '100', ...ofPipeline });
    const statuses = await this.#rest.ask(
      `${path}/repository/commits/${encodeURIComponent(commit)}/statuses?${asked}`,
      statusesSchema,
    );
    const [newest] = statuses.filter(({ name }) => name === CHECK_NAME).sort((one, other) => other.id - one.id);
    const state = conclusion === 'success' ? 'success' : 'failed';
    const target = url.length > ADDRESS_LENGTH_MAX ? {} : { target_url: url };
    if (newest?.status === state && newest.description === title && (newest.target_url ?? url) === url)
      return 'unchanged';
    const json = { state, name: CHECK_NAME, description: title, ...target, ...ofPipeline };
    await this.#rest.ask(`${path}/statuses/${encodeURIComponent(commit)}`, z.unknown(), { method: 'POST', json });
    return newest ? 'updated' : 'created';
  }
}
