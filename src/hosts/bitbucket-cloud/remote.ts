/**
 * Repositories of Bitbucket Cloud: https://developer.atlassian.com/cloud/bitbucket/rest/api-group-pullrequests/ and
 * …/api-group-source/.
 */
import { z } from 'zod';
import { changedPathsOf } from '../../domain/changed-paths.ts';
import { BITBUCKET_CODEOWNERS, firstCodeowners } from '../api/codeowners.ts';
import {
  type HostCodeowners,
  isSameCommit,
  type PullToRead,
  type RemotePlace,
  type RemoteRepository,
} from '../remote.ts';
import { BitbucketCloudComments } from './comments.ts';
import { cloudRest, listLinked, repositoryPath } from './rest.ts';
import { BitbucketCloudStatus } from './status.ts';

const fileSchema = z.object({ path: z.string() }).nullish();
const changeSchema = z.object({ old: fileSchema, new: fileSchema });
const repositorySchema = z.object({ mainbranch: z.object({ name: z.string() }).nullish() });
const branchSchema = z.object({ target: z.object({ hash: z.string() }) });

export class BitbucketCloudRemote implements RemoteRepository {
  constructor(private readonly place: RemotePlace) {}

  comments(number: number): BitbucketCloudComments {
    return new BitbucketCloudComments(this.place, number);
  }

  check(commit: string): BitbucketCloudStatus {
    return new BitbucketCloudStatus(this.place, commit);
  }

  async changedFiles({ number, commit }: PullToRead): Promise<string[] | undefined> {
    const rest = cloudRest(this.place, 'The token may not read pull requests');
    const path = `${repositoryPath(this.place.path)}/pullrequests/${number}/diffstat?pagelen=500`;
    const { items } = await listLinked(rest, this.place, path, changeSchema);
    // After them: they are those of the newest commit.
    if (!isSameCommit(await this.comments(number).head(), commit)) return undefined;
    return changedPathsOf(items.flatMap(({ old: before, new: after }) => [after?.path ?? '', before?.path ?? '']));
  }

  /** Files are addressed by commit: a branch with a slash in its name would not be told from a folder. */
  async codeowners(): Promise<HostCodeowners | undefined> {
    const rest = cloudRest(this.place, 'The token may not read the repository');
    const repository = repositoryPath(this.place.path);
    const { mainbranch } = await rest.ask(repository, repositorySchema);
    if (!mainbranch) return undefined;
    const branch = `${repository}/refs/branches/${encodeURIComponent(mainbranch.name)}`;
    const { target } = await rest.ask(branch, branchSchema);
    return firstCodeowners(BITBUCKET_CODEOWNERS, (path) => rest.askText(`${repository}/src/${target.hash}/${path}`));
  }
}
