/** Every kind of repository host: a line here, and a folder beside this file. */
import type { HostKindName } from '../domain/host-page.ts';
import { gitea } from './gitea/gitea.ts';
import { github } from './github/github.ts';
import { gitlab } from './gitlab/gitlab.ts';
import type { Host } from './host.ts';

export const HOSTS = { github, gitlab, gitea } as const satisfies Record<HostKindName, Host>;
