/** A host that this service serves: a kind of host at an address, under a name. */
import type { AddressedHost } from '../domain/host-address.ts';
import type { HostKindName } from '../domain/host-page.ts';
import type { AppAccess } from './app.ts';

/** By owner on the host, in lower case: hosts do not distinguish case there. */
export type OwnerSecrets = ReadonlyMap<string, readonly string[]>;

export interface HostSite extends AddressedHost {
  kind: HostKindName;
  /** Where people see it; without a trailing slash, as is that of its REST API. */
  url: string;
  apiUrl: string;
  /** Whether its tokens are credentials here. If not, none is ever sent to it. */
  isAsked: boolean;
  /** With what the service itself reads and writes there; undefined: it does neither. */
  credential: { token: string } | AppAccess | undefined;
  /** A delivery may be signed with any of them; without any, every delivery is refused. */
  secrets: readonly string[];
  /** For the repositories of an owner who is in here, only these count. */
  ownerSecrets: OwnerSecrets;
}

/** The values that no log line may contain. */
export function secretsOfSite({ secrets, ownerSecrets, credential }: HostSite): string[] {
  const own = credential && ('token' in credential ? credential.token : credential.privateKey);
  return [...secrets, ...[...ownerSecrets.values()].flat(), ...(own === undefined ? [] : [own])];
}
