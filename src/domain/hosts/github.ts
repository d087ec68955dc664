/** GitHub, GitHub Enterprise Cloud below `ghe.com`, and GitHub Enterprise Server. */
import type { HostKind } from './host-kind.ts';

/** docs.github.com, "OpenID Connect reference": issuers of the three, of which an enterprise may have one with its name. */
const CLOUD = /^https:\/\/token\.actions\.githubusercontent\.com(?:\/[\w.-]+)?$/;
const CLOUD_OF_ENTERPRISE = /^https:\/\/token\.actions\.([\w-]+\.ghe\.com)(?:\/[\w.-]+)?$/;
const SERVER = /^(https:\/\/[^/]+)\/_services\/token$/;

export const github: HostKind = {
  name: 'github',
  links: {
    commit: '{url}/commit/{commit}',
    compare: '{url}/compare/{from}...{to}',
    file: '{url}/blob/{commit}/{path}',
    line: '{url}/blob/{commit}/{path}#L{line}',
    pull_request: '{url}/pull/{number}',
  },
  jobMark: '/actions/runs/',
  ofIssuer(issuer) {
    if (CLOUD.test(issuer)) return 'https://github.com';
    const enterprise = CLOUD_OF_ENTERPRISE.exec(issuer)?.[1];
    return enterprise === undefined ? SERVER.exec(issuer)?.[1] : `https://${enterprise}`;
  },
};
