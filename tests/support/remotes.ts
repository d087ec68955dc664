/** Each kind of host, as a repository on a server of this machine. */
import type { HostKindName } from '../../src/domain/host-page.ts';
import { HOSTS } from '../../src/hosts/hosts.ts';
import type { RemotePlace, RemoteRepository } from '../../src/hosts/remote.ts';
import { HOST_TOKEN } from './pull-host.ts';

const API: Readonly<Record<HostKindName, string>> = {
  github: '/api/v3',
  gitlab: '/api/v4',
  gitea: '/api/v1',
  'bitbucket-cloud': '/2.0',
  'bitbucket-data-center': '/rest/api/1.0',
};

/** How messages name it. */
export const REMOTES: readonly [string, HostKindName][] = [
  ['GitHub', 'github'],
  ['GitLab', 'gitlab'],
  ['Gitea', 'gitea'],
  ['Bitbucket Cloud', 'bitbucket-cloud'],
  ['Bitbucket Data Center', 'bitbucket-data-center'],
];

export const remoteAt = (kind: HostKindName, origin: string, change: Partial<RemotePlace> = {}): RemoteRepository =>
  HOSTS[kind].remote({ apiUrl: `${origin}${API[kind]}`, token: HOST_TOKEN, path: 'acme/shop', ...change });
