/** Owners in addresses: which host they are on, and back. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { hostOfOwner, ownerInAddress, ownerOnHost, withoutHostName } from '../../src/domain/host-address.ts';

const HOSTS = [
  { name: 'github', isDefault: true },
  { name: 'lab', isDefault: false },
  { name: 'my-lab', isDefault: false },
];
/** As GitHub allows them: single hyphens, none at an end. */
const owner = fc.stringMatching(/^[A-Za-z0-9]{1,6}(?:-[A-Za-z0-9]{1,6}){0,2}$/);

test('an owner in an address leads back to its host and its owner, and no two hosts share one', () => {
  fc.assert(
    fc.property(owner, (name) => {
      const addresses = HOSTS.map((host) => {
        const address = ownerInAddress(host, name);
        expect(hostOfOwner(HOSTS, address)).toBe(host);
        expect(hostOfOwner(HOSTS, address.toUpperCase())).toBe(host);
        expect(ownerOnHost(host, address)).toBe(name);
        expect(withoutHostName(address)).toBe(name);
        return address;
      });
      expect(addresses[0]).toBe(name);
      expect(new Set(addresses).size).toBe(HOSTS.length);
    }),
  );
});
