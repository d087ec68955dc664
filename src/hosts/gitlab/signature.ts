/**
 * Who sent a delivery of GitLab. A signing token (`whsec_…`, GitLab 19 and later) signs id, time and body by the rules of
 * standardwebhooks.com; a secret token is sent as it is, in `X-Gitlab-Token`, and says nothing of the body.
 */
import { createHmac } from 'node:crypto';
import type { HostWebhooks } from '../host.ts';
import { isSameSecret } from '../webhooks/secret.ts';

export const TOKEN_HEADER = 'X-Gitlab-Token';
export const SIGNATURE_HEADER = 'webhook-signature';
const SIGNING_TOKEN = 'whsec_';

export const checkOf: HostWebhooks['checkOf'] = (secrets) => async (headers, body) => {
  const verdicts = secrets.map((secret) =>
    secret.startsWith(SIGNING_TOKEN) ? isSigned(secret, headers, body) : isToken(secret, headers),
  );
  return verdicts.includes(true);
};

const isToken = (secret: string, headers: Headers): boolean => {
  const sent = headers.get(TOKEN_HEADER);
  return sent !== null && isSameSecret(sent, secret);
};

/** The header may hold several signatures, during a rotation at the host. */
function isSigned(secret: string, headers: Headers, body: Uint8Array): boolean {
  const [id, time] = [headers.get('webhook-id'), headers.get('webhook-timestamp')];
  const signatures = (headers.get(SIGNATURE_HEADER) ?? '').split(' ').slice(0, SIGNATURES_MAX);
  if (id === null || time === null) return false;
  const key = Buffer.from(secret.slice(SIGNING_TOKEN.length), 'base64');
  const right = `v1,${createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')}`;
  return signatures.filter((sent) => isSameSecret(sent, right)).length > 0;
}

const SIGNATURES_MAX = 10;
