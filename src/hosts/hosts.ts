/** Every kind of repository host: a line here, and a folder beside this file. */
import type { HostKindName } from '../domain/host-page.ts';
import { bitbucketCloud } from './bitbucket-cloud/bitbucket-cloud.ts';
import { bitbucketDataCenter } from './bitbucket-data-center/bitbucket-data-center.ts';
import { gitea } from './gitea/gitea.ts';
import { github } from './github/github.ts';
import { gitlab } from './gitlab/gitlab.ts';
import type { Host } from './host.ts';

export const HOSTS = {
  github,
  gitlab,
  gitea,
  'bitbucket-cloud': bitbucketCloud,
  'bitbucket-data-center': bitbucketDataCenter,
} as const satisfies Record<HostKindName, Host>;
