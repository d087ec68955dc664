/** Comparison of what a request sends with a secret, in the same time for every wrong one. */
import { createHmac, timingSafeEqual } from 'node:crypto';

/** Hashed first, because only texts of one length can be compared in constant time. */
export function isSameSecret(sent: string, secret: string): boolean {
  const digest = (text: string) => createHmac('sha256', 'comparison').update(text).digest();
  return timingSafeEqual(digest(sent), digest(secret));
}
