/**
 * Repositories of GitHub: changes as https://docs.github.com/en/rest/pulls/pulls#list-pull-requests-files has them, files as
 * https://docs.github.com/en/rest/repos/contents.
 */
import { z } from 'zod';
import { changedPathsOf } from '../../domain/changed-paths.ts';
import { CODEOWNERS_PLACES } from '../../domain/codeowners-pattern.ts';
import { base64File, firstCodeowners } from '../api/codeowners.ts';
import { listNumbered } from '../api/pages.ts';
import type { HostCodeowners, PullToRead, RemotePlace, RemoteRepository } from '../remote.ts';
import { GithubChecks } from './checks.ts';
import { GithubComments } from './comments.ts';
import { githubPath, githubRest } from './rest.ts';

const filesSchema = z.array(z.object({ filename: z.string(), previous_filename: z.string().nullish() }));
const pullSchema = z.object({ head: z.object({ sha: z.string() }) });

export class GithubRemote implements RemoteRepository {
  constructor(private readonly place: RemotePlace) {}

  comments(number: number): GithubComments {
    return new GithubComments(this.place, number);
  }

  check(commit: string, key: string): GithubChecks {
    return new GithubChecks(this.place, commit, key);
  }

  async changedFiles({ number, commit }: PullToRead): Promise<string[] | undefined> {
    const rest = githubRest(this.place, 'The token may not read pull requests');
    const path = `${githubPath(this.place.path)}/pulls/${number}`;
    const { items } = await listNumbered(rest, `${path}/files`, filesSchema);
    // After them: they are those of the newest commit.
    if ((await rest.ask(path, pullSchema)).head.sha !== commit) return undefined;
    return changedPathsOf(items.flatMap(({ filename, previous_filename: before }) => [filename, before ?? '']));
  }

  codeowners(): Promise<HostCodeowners | undefined> {
    const rest = githubRest(this.place, 'The token may not read contents');
    return firstCodeowners(CODEOWNERS_PLACES.github, (path) =>
      rest.ask(`${githubPath(this.place.path)}/contents/${path}`, base64File),
    );
  }
}
