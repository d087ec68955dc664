/** gitlab.com and GitLab Self-Managed, which may lie below a path. Their issuer is their own address. */
import type { Host } from '../host.ts';
import { GitlabRemote } from './remote.ts';
import { GitLabTokens } from './tokens.ts';
import { webhooks } from './webhooks.ts';

export const gitlab = {
  kind: 'gitlab',
  title: 'GitLab',
  home: 'https://gitlab.com',
  apiUrlOf: (url) => `${url}/api/v4`,
  links: {
    commit: '{url}/-/commit/{commit}',
    compare: '{url}/-/compare/{from}...{to}',
    file: '{url}/-/blob/{commit}/{path}',
    line: '{url}/-/blob/{commit}/{path}#L{line}',
    pull_request: '{url}/-/merge_requests/{number}',
  },
  codeownersRules: 'gitlab',
  jobMark: '/-/jobs/',
  ofIssuer: (issuer) => issuer,
  webhooks,
  tokens: (options) => new GitLabTokens(options),
  remote: (place) => new GitlabRemote(place),
  pathOfPage: (path) => path,
} satisfies Host;
