/** Checks that a delivery is from the host: it signs the raw body with HMAC-SHA256 and a shared secret. */
import { Webhooks } from '@octokit/webhooks';

export type SignatureCheck = (body: Uint8Array, signature: string | null) => Promise<boolean>;

/**
 * Checks `X-Hub-Signature-256` against each secret; there are two during a rotation.
 *
 * Takes the same time for every wrong signature of the right length. A body that is not UTF-8 has no correct signature:
 * JSON and forms are UTF-8, and lenient decoding would check other bytes than were signed.
 *
 * @example await signatureCheck(['0123456789abcdef'])(body, request.headers.get('x-hub-signature-256'))
 */
export function signatureCheck(secrets: readonly string[]): SignatureCheck {
  const checks = secrets.map((secret) => new Webhooks({ secret }));
  return async (body, signature) => {
    const text = utf8(body);
    if (!text || !signature) return false;
    const verdicts = await Promise.all(checks.map((check) => check.verify(text, signature)));
    return verdicts.includes(true);
  };
}

/** The text, including a byte order mark, or null if the bytes are not UTF-8. */
function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
