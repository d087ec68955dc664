/** Projects of GitLab: changes and files as https://docs.gitlab.com/api/merge_requests/ and …/repository_files/ have them. */
import { z } from 'zod';
import { changedPathsOf } from '../../domain/changed-paths.ts';
import { CODEOWNERS_PLACES } from '../../domain/codeowners-pattern.ts';
import { base64File, firstCodeowners } from '../api/codeowners.ts';
import { listNumbered } from '../api/pages.ts';
import type { HostCodeowners, PullToRead, RemotePlace, RemoteRepository } from '../remote.ts';
import { GitlabComments } from './comments.ts';
import { gitlabRest, projectPath } from './rest.ts';
import { GitlabStatus } from './status.ts';

const filesSchema = z.array(z.object({ new_path: z.string(), old_path: z.string() }));
const mergeRequestSchema = z.object({ sha: z.string() });

export class GitlabRemote implements RemoteRepository {
  constructor(private readonly place: RemotePlace) {}

  comments(number: number): GitlabComments {
    return new GitlabComments(this.place, number);
  }

  check(commit: string): GitlabStatus {
    return new GitlabStatus(this.place, commit);
  }

  async changedFiles({ number, commit }: PullToRead): Promise<string[] | undefined> {
    const rest = gitlabRest(this.place, 'The token may not read merge requests');
    const path = `${projectPath(this.place.path)}/merge_requests/${number}`;
    const { items } = await listNumbered(rest, `${path}/diffs`, filesSchema);
    // After them: they are those of the newest commit.
    if ((await rest.ask(path, mergeRequestSchema)).sha !== commit) return undefined;
    return changedPathsOf(items.flatMap(({ new_path: after, old_path: before }) => [after, before]));
  }

  codeowners(): Promise<HostCodeowners | undefined> {
    const rest = gitlabRest(this.place, 'The token may not read the repository');
    const files = `${projectPath(this.place.path)}/repository/files`;
    return firstCodeowners(CODEOWNERS_PLACES.gitlab, (path) =>
      rest.ask(`${files}/${encodeURIComponent(path)}?ref=HEAD`, base64File),
    );
  }
}
