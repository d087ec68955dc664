/** With what the identity provider is asked again: only the browser's cookie opens it. */
import { expect, test } from 'bun:test';
import { openRenewal, sealRenewal } from '../../src/access/renewal.ts';

test('is opened by the session that it was sealed for, and by no other', () => {
  const sealed = sealRenewal('cis_one', 'a refresh token');
  expect(openRenewal('cis_one', sealed)).toBe('a refresh token');
  expect(openRenewal('cis_two', sealed)).toBeUndefined();
  expect(sealRenewal('cis_one', 'a refresh token')).not.toEqual(sealed);
  expect(sealed.toString('latin1')).not.toContain('refresh');
});

test('is not opened once a bit of it has changed', () => {
  const sealed = sealRenewal('cis_one', 'a refresh token');
  for (let at = 0; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at] = (changed[at] ?? 0) ^ 1;
    expect(openRenewal('cis_one', changed)).toBeUndefined();
  }
  expect(openRenewal('cis_one', Buffer.alloc(3))).toBeUndefined();
});
