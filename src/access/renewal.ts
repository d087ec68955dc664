/**
 * With what the identity provider is asked again about the person of a session. It is stored encrypted, with a key that
 * follows from the token in the browser's cookie and from nothing that is stored: who reads the database cannot use it.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

const keyOf = (token: string): Buffer => Buffer.from(hkdfSync('sha256', token, '', 'ci-insights renewal', 32));

/** Encrypts a refresh token for a session. */
export function sealRenewal(token: string, refreshToken: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(token), iv);
  const sealed = Buffer.concat([cipher.update(refreshToken, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** Undefined if it was not sealed for this session. */
export function openRenewal(token: string, renewal: Uint8Array): string | undefined {
  const bytes = Buffer.from(renewal);
  try {
    const decipher = createDecipheriv(CIPHER, keyOf(token), bytes.subarray(0, IV_BYTES));
    decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}
