/** GitHub, GitHub Enterprise Cloud below `ghe.com`, and GitHub Enterprise Server. */
import type { Host } from '../host.ts';
import { signatureCheck } from '../webhooks/signature.ts';
import { GithubApp } from './app.ts';
import { deliveryOf } from './delivery.ts';
import { outcomeOf, READ, repositoryOf } from './mapping.ts';
import { NOT_OFFERED } from './not-offered.ts';
import { GithubRemote } from './remote.ts';
import { GitHubTokens } from './tokens.ts';

/** docs.github.com, "OpenID Connect reference": issuers of the three, of which an enterprise may have one with its name. */
const CLOUD = /^https:\/\/token\.actions\.githubusercontent\.com(?:\/[\w.-]+)?$/;
const CLOUD_OF_ENTERPRISE = /^https:\/\/token\.actions\.([\w-]+\.ghe\.com)(?:\/[\w.-]+)?$/;
const SERVER = /^(https:\/\/[^/]+)\/_services\/token$/;

const SIGNATURE = 'X-Hub-Signature-256';

/** The public host, Enterprise Cloud below `ghe.com`, else Enterprise Server. */
function apiUrlOf(url: string): string {
  const cloud = /^https:\/\/(github\.com|[\w-]+\.ghe\.com)$/.exec(url)?.[1];
  return cloud === undefined ? `${url}/api/v3` : `https://api.${cloud}`;
}

export const github = {
  kind: 'github',
  title: 'GitHub',
  home: 'https://github.com',
  apiUrlOf,
  links: {
    commit: '{url}/commit/{commit}',
    compare: '{url}/compare/{from}...{to}',
    file: '{url}/blob/{commit}/{path}',
    line: '{url}/blob/{commit}/{path}#L{line}',
    pull_request: '{url}/pull/{number}',
  },
  codeownersRules: 'github',
  jobMark: '/actions/runs/',
  ofIssuer(issuer) {
    if (CLOUD.test(issuer)) return 'https://github.com';
    const enterprise = CLOUD_OF_ENTERPRISE.exec(issuer)?.[1];
    return enterprise === undefined ? SERVER.exec(issuer)?.[1] : `https://${enterprise}`;
  },
  webhooks: {
    read: READ,
    notOffered: NOT_OFFERED,
    signatureHeaders: [SIGNATURE],
    signatureRule: 'X-Hub-Signature-256 must be the HMAC-SHA256 of the body with the secret',
    checkOf: (secrets) => {
      const check = signatureCheck(secrets);
      return (headers, body) => check(body, headers.get(SIGNATURE));
    },
    deliveryOf,
    isTest: ({ event }) => event === 'ping',
    repositoryOf,
    outcomeOf,
  },
  tokens: (options) => new GitHubTokens(options),
  remote: (place) => new GithubRemote(place),
  app: (access, now) => new GithubApp(access, now),
} satisfies Host;
