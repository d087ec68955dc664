/** Gitea and Forgejo. Their jobs have addresses as those of GitHub, so only the setting of a repository says this kind. */
import type { Host } from '../host.ts';

export const gitea: Host = {
  kind: 'gitea',
  title: 'Gitea',
  links: {
    commit: '{url}/commit/{commit}',
    compare: '{url}/compare/{from}...{to}',
    file: '{url}/src/commit/{commit}/{path}',
    line: '{url}/src/commit/{commit}/{path}#L{line}',
    pull_request: '{url}/pulls/{number}',
  },
  jobMark: undefined,
  ofIssuer: () => undefined,
  webhooks: undefined,
  api: undefined,
};
