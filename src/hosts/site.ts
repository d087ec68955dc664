/** A host that this service serves: a kind of host at an address, under a name. */
import type { AddressedHost } from '../domain/host-address.ts';
import type { HostKindName } from '../domain/host-page.ts';

/** By owner on the host, in lower case: hosts do not distinguish case there. */
export type OwnerSecrets = ReadonlyMap<string, readonly string[]>;

export interface HostSite extends AddressedHost {
  kind: HostKindName;
  /** Of its REST API, without a trailing slash; undefined: its tokens are not accepted, and it is never asked. */
  apiUrl: string | undefined;
  /** A delivery may be signed with any of them; without any, every delivery is refused. */
  secrets: readonly string[];
  /** For the repositories of an owner who is in here, only these count. */
  ownerSecrets: OwnerSecrets;
}
