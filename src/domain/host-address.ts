/**
 * Repositories of several hosts: those of the default host have addresses with their owner, those of another host with
 * `<name of the host>--<owner>`, as if that were the owner. So two repositories of the same name on two hosts are two, and
 * keys, links and ids need no other rule.
 */

const BETWEEN = '--';

export interface AddressedHost {
  /** Lower-case letters, digits and single hyphens. */
  name: string;
  isDefault: boolean;
}

/** The owner in addresses, of an owner on the host. */
export const ownerInAddress = ({ name, isDefault }: AddressedHost, owner: string): string =>
  isDefault ? owner : `${name}${BETWEEN}${owner}`;

/** Which of the hosts an owner in an address is on. */
export function hostOfOwner<H extends AddressedHost>(hosts: readonly H[], owner: string): H | undefined {
  const lower = owner.toLowerCase();
  const named = hosts.find(({ name, isDefault }) => !isDefault && lower.startsWith(`${name}${BETWEEN}`));
  return named ?? hosts.find(({ isDefault }) => isDefault);
}

/** The owner on its host, of an owner in an address of that host. */
export const ownerOnHost = ({ name, isDefault }: AddressedHost, owner: string): string =>
  isDefault ? owner : owner.slice(name.length + BETWEEN.length);
