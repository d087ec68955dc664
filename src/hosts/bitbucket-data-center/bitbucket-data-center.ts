/** Bitbucket Data Center, and Bitbucket Server before it. */
import type { Host } from '../host.ts';
import { BitbucketDataCenterRemote } from './remote.ts';
import { BitbucketDataCenterTokens } from './tokens.ts';
import { webhooks } from './webhooks.ts';

export const bitbucketDataCenter = {
  kind: 'bitbucket-data-center',
  title: 'Bitbucket Data Center',
  home: undefined,
  apiUrlOf: (url) => `${url}/rest/api/1.0`,
  links: {
    commit: '{url}/commits/{commit}',
    compare: '{url}/compare/diff?sourceBranch={to}&targetBranch={from}',
    file: '{url}/browse/{path}?at={commit}',
    line: '{url}/browse/{path}?at={commit}#{line}',
    pull_request: '{url}/pull-requests/{number}',
  },
  codeownersRules: 'github',
  jobMark: undefined,
  ofIssuer: () => undefined,
  webhooks,
  tokens: (options) => new BitbucketDataCenterTokens(options),
  remote: (place) => new BitbucketDataCenterRemote(place),
} satisfies Host;
