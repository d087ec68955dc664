/** Repositories of Bitbucket Data Center. https://developer.atlassian.com/server/bitbucket/rest/ */
import { z } from 'zod';
import { changedPathsOf } from '../../domain/changed-paths.ts';
import { BITBUCKET_CODEOWNERS, firstCodeowners } from '../api/codeowners.ts';
import type { HostCodeowners, PullToRead, RemotePlace, RemoteRepository } from '../remote.ts';
import { BitbucketDataCenterComments } from './comments.ts';
import { centerRest, listFrom, repositoryPath } from './rest.ts';
import { BitbucketDataCenterStatus } from './status.ts';

const pathSchema = z.object({ toString: z.string() });
const changeSchema = z.object({ path: pathSchema, srcPath: pathSchema.nullish() });

export class BitbucketDataCenterRemote implements RemoteRepository {
  constructor(private readonly place: RemotePlace) {}

  comments(number: number): BitbucketDataCenterComments {
    return new BitbucketDataCenterComments(this.place, number);
  }

  check(commit: string): BitbucketDataCenterStatus {
    return new BitbucketDataCenterStatus(this.place, commit);
  }

  async changedFiles({ number, commit }: PullToRead): Promise<string[] | undefined> {
    const rest = centerRest(this.place, 'The token may not read the repository');
    const path = `${repositoryPath(this.place.path)}/pull-requests/${number}`;
    const { items } = await listFrom(rest, `${path}/changes`, changeSchema);
    // After them: they are those of the newest commit.
    if ((await this.comments(number).head()) !== commit) return undefined;
    return changedPathsOf(
      items.flatMap(({ path: after, srcPath: before }) => [after.toString, before?.toString ?? '']),
    );
  }

  codeowners(): Promise<HostCodeowners | undefined> {
    const rest = centerRest(this.place, 'The token may not read the repository');
    const raw = `${repositoryPath(this.place.path)}/raw`;
    return firstCodeowners(BITBUCKET_CODEOWNERS, (path) => rest.askText(`${raw}/${path}`));
  }
}
