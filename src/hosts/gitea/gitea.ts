/** Gitea and Forgejo. Their jobs have addresses as those of GitHub, so an upload does not say this kind. */
import type { Host } from '../host.ts';
import { GiteaRemote } from './remote.ts';
import { GiteaTokens } from './tokens.ts';
import { webhooks } from './webhooks.ts';

export const gitea = {
  kind: 'gitea',
  title: 'Gitea or Forgejo',
  home: undefined,
  apiUrlOf: (url) => `${url}/api/v1`,
  links: {
    commit: '{url}/commit/{commit}',
    compare: '{url}/compare/{from}...{to}',
    file: '{url}/src/commit/{commit}/{path}',
    line: '{url}/src/commit/{commit}/{path}#L{line}',
    pull_request: '{url}/pulls/{number}',
  },
  codeownersRules: 'github',
  jobMark: undefined,
  ofIssuer: () => undefined,
  webhooks,
  tokens: (options) => new GiteaTokens(options),
  remote: (place) => new GiteaRemote(place),
} satisfies Host;
