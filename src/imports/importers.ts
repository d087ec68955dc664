/** Hosts whose history can be imported from the page: a row for each kind, and its command. */
import type { AddressedHost } from '../domain/host-address.ts';
import type { HostKindName } from '../domain/host-page.ts';

interface Importer {
  /** `ci-insights import <command>`. */
  command: string;
  /** The variable in which the command finds the token. */
  tokenVariable: string;
  /** What the token must allow. */
  needs: string;
}

export const IMPORTERS: Partial<Record<HostKindName, Importer>> = {
  github: {
    command: 'github',
    tokenVariable: 'GITHUB_TOKEN',
    needs: 'It may read contents, actions and pull requests of the repository.',
  },
  gitlab: {
    command: 'gitlab',
    tokenVariable: 'GITLAB_TOKEN',
    needs: 'It has the scope read_api, and the role Reporter or more in the project.',
  },
};

/** A configured host whose history can be imported. */
export interface ImportableHost extends AddressedHost {
  kind: HostKindName;
  apiUrl: string;
}
