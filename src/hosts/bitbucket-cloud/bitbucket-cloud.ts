/** Bitbucket Cloud. */
import type { Host } from '../host.ts';
import { BitbucketCloudRemote } from './remote.ts';
import { BitbucketCloudTokens } from './tokens.ts';
import { webhooks } from './webhooks.ts';

export const bitbucketCloud = {
  kind: 'bitbucket-cloud',
  title: 'Bitbucket Cloud',
  home: 'https://bitbucket.org',
  apiUrlOf: (url) => (url === 'https://bitbucket.org' ? 'https://api.bitbucket.org/2.0' : `${url}/2.0`),
  links: {
    commit: '{url}/commits/{commit}',
    compare: '{url}/branches/compare/{to}..{from}',
    file: '{url}/src/{commit}/{path}',
    line: '{url}/src/{commit}/{path}#lines-{line}',
    pull_request: '{url}/pull-requests/{number}',
  },
  codeownersRules: 'github',
  jobMark: '/pipelines/results/',
  ofIssuer: () => undefined,
  webhooks,
  tokens: (options) => new BitbucketCloudTokens(options),
  remote: (place) => new BitbucketCloudRemote(place),
} satisfies Host;
