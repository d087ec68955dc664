/** Repositories of Gitea and Forgejo. https://docs.gitea.com/api/ */
import { z } from 'zod';
import { changedPathsOf } from '../../domain/changed-paths.ts';
import { base64File, firstCodeowners } from '../api/codeowners.ts';
import { listNumbered } from '../api/pages.ts';
import type { HostCodeowners, PullToRead, RemotePlace, RemoteRepository } from '../remote.ts';
import { GiteaComments } from './comments.ts';
import { giteaRest, repositoryPath, SIZE_NAME } from './rest.ts';
import { GiteaStatus } from './status.ts';

const filesSchema = z.array(z.object({ filename: z.string(), previous_filename: z.string().nullish() }));
const pullSchema = z.object({ head: z.object({ sha: z.string() }) });

/** Where Gitea and Forgejo look for the file, in their order. */
const CODEOWNERS = ['CODEOWNERS', 'docs/CODEOWNERS', '.gitea/CODEOWNERS', '.forgejo/CODEOWNERS'];

export class GiteaRemote implements RemoteRepository {
  constructor(private readonly place: RemotePlace) {}

  comments(number: number): GiteaComments {
    return new GiteaComments(this.place, number);
  }

  check(commit: string): GiteaStatus {
    return new GiteaStatus(this.place, commit);
  }

  async changedFiles({ number, commit }: PullToRead): Promise<string[] | undefined> {
    const rest = giteaRest(this.place, 'The token may not read the repository');
    const path = `${repositoryPath(this.place.path)}/pulls/${number}`;
    const { items } = await listNumbered(rest, `${path}/files`, filesSchema, { sizeName: SIZE_NAME, pagesMax: 60 });
    // After them: they are those of the newest commit.
    if ((await rest.ask(path, pullSchema)).head.sha !== commit) return undefined;
    return changedPathsOf(items.flatMap(({ filename, previous_filename: before }) => [filename, before ?? '']));
  }

  codeowners(): Promise<HostCodeowners | undefined> {
    const rest = giteaRest(this.place, 'The token may not read the repository');
    const contents = `${repositoryPath(this.place.path)}/contents`;
    return firstCodeowners(CODEOWNERS, (path) => rest.ask(`${contents}/${path}`, base64File));
  }
}
