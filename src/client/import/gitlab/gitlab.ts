/** GitLab, in the cloud or at an own address, as a host that an import reads. */
import { InvalidArgumentError } from 'commander';
import { ownerSchema, repositoryNameSchema } from '../../../domain/repository-path.ts';
import { pathOf } from '../../run-info.ts';
import type { ImportHost } from '../host.ts';
import type { Pipeline } from './api.ts';
import { type GatheredPipeline, GitlabReader } from './reader.ts';

export const gitlab: ImportHost<Pipeline, GatheredPipeline> = {
  name: 'gitlab',
  title: 'GitLab',
  description: 'import what GitLab CI has of a project: reports of jobs, results in logs, merge requests',
  pathExample: 'group/project',
  parsePath(path) {
    if (!/^[\w.-]+(?:\/[\w.-]+)+$/.test(path))
      throw new InvalidArgumentError('Write it as group/project, for example acme/web/shop.');
    const { owner, repository: name } = pathOf(path);
    const [own, named] = [ownerSchema.safeParse(owner), repositoryNameSchema.safeParse(name)];
    return own.success && named.success ? { owner: own.data, name: named.data } : undefined;
  },
  apiUrl: 'https://gitlab.com/api/v4',
  ownApiExample: 'https://git.example.com/api/v4',
  tokenVariable: 'GITLAB_TOKEN',
  tokenNeeds: 'has the scope read_api, and the role Reporter or more in the project',
  headersOf: (token) => ({ ...(token && { 'private-token': token }) }),
  open: (history, isDone) => new GitlabReader(history, isDone),
};
