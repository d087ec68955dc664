/** GitHub, and GitHub Enterprise, as a host that an import reads. */
import { parsePath } from '../../parse.ts';
import type { ImportHost } from '../host.ts';
import type { Run } from './api.ts';
import { type GatheredRun, GithubReader } from './reader.ts';

export const github: ImportHost<Run, GatheredRun> = {
  name: 'github',
  title: 'GitHub',
  description: 'import what GitHub Actions has of a repository: reports in artifacts, results in logs, pull requests',
  pathExample: 'owner/name',
  parsePath,
  apiUrl: 'https://api.github.com',
  ownApiExample: 'https://git.example.com/api/v3',
  tokenVariable: 'GITHUB_TOKEN',
  tokenNeeds: 'may read the repository, its Actions and pull requests',
  headersOf: (token) => ({
    accept: 'application/vnd.github+json',
    'x-github-api-version': '2022-11-28',
    ...(token && { authorization: `Bearer ${token}` }),
  }),
  open: (history, isDone) => new GithubReader(history, isDone),
};
