/** gitlab.com and GitLab Self-Managed, which may lie below a path. Their issuer is their own address. */
import type { Host } from '../host.ts';

export const gitlab: Host = {
  kind: 'gitlab',
  title: 'GitLab',
  links: {
    commit: '{url}/-/commit/{commit}',
    compare: '{url}/-/compare/{from}...{to}',
    file: '{url}/-/blob/{commit}/{path}',
    line: '{url}/-/blob/{commit}/{path}#L{line}',
    pull_request: '{url}/-/merge_requests/{number}',
  },
  jobMark: '/-/jobs/',
  ofIssuer: (issuer) => issuer,
  webhooks: undefined,
  api: undefined,
};
