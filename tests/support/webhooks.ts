/** Deliveries of a repository host, signed as it signs them: the payloads of octokit's collection, and others. */
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { v5 as uuid5 } from 'uuid';
import { z } from 'zod';
import type { HostSite } from '../../src/hosts/site.ts';

export const WEBHOOK_SECRET = 'a secret of the tests only';

/** GitHub as the default host, with the secrets of its webhooks. */
export const githubSite = (secrets: readonly string[] = [], ownerSecrets: HostSite['ownerSecrets'] = new Map()) =>
  ({ name: 'github', kind: 'github', isDefault: true, secrets, ownerSecrets }) as const;
export const GITHUB = githubSite();
const DELIVERIES_NAMESPACE = '0c1b8f3e-7d0e-4f7a-9a51-3a3a3b0e5c11';

const payloadSchema = z.looseObject({ action: z.string().optional() });
export type Payload = z.infer<typeof payloadSchema>;
const collectionSchema = z.array(z.object({ name: z.string(), examples: z.array(payloadSchema) }));

export interface Example {
  /** Its place in the collection, such as `api.github.com pull_request[3] closed`. */
  name: string;
  /** `X-GitHub-Event` */
  event: string;
  /** `X-GitHub-Delivery`: the same in every run. */
  delivery: string;
  payload: Payload;
  body: string;
  /** The headers with which the host sends it. */
  headers(secret?: string): Record<string, string>;
}

/** The signature over a body, as the host makes it. */
export const signatureOf = (body: string | Uint8Array, secret = WEBHOOK_SECRET): string =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;

/** A delivery of any payload. */
export function delivery(
  event: string,
  payload: Payload,
  name = event,
  id = uuid5(name, DELIVERIES_NAMESPACE),
): Example {
  const body = JSON.stringify(payload);
  return {
    name,
    event,
    delivery: id,
    payload,
    body,
    headers: (secret = WEBHOOK_SECRET) => ({
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/044aadd',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': signatureOf(body, secret),
    }),
  };
}

/** Every payload of `@octokit/webhooks-examples`: of the public host and of five versions of the enterprise host. */
export function webhookExamples(): Example[] {
  const root = dirname(dirname(fileURLToPath(import.meta.resolve('@octokit/webhooks-examples'))));
  const folders = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders
    .map(({ name }) => name)
    .sort()
    .flatMap((host) => {
      const collection = collectionSchema.parse(JSON.parse(readFileSync(join(root, host, 'index.json'), 'utf8')));
      return collection.flatMap(({ name: event, examples }) =>
        examples.map((payload, i) =>
          delivery(event, payload, `${host} ${event}[${i}]${payload.action ? ` ${payload.action}` : ''}`),
        ),
      );
    });
}

let known: Example[] | undefined;
const publicExamples = (): Example[] => {
  known ??= webhookExamples().filter(({ name }) => name.startsWith('api.github.com '));
  return known;
};

/** A payload of the public host from the collection, with some fields changed. */
export function payloadOf(event: string, action: string | undefined, changes: object = {}): Payload {
  const found = publicExamples().find((it) => it.event === event && it.payload.action === action);
  if (!found) throw new Error(`no example of ${event} ${action}`);
  return merged(structuredClone(found.payload), changes) as Payload;
}

function merged(target: unknown, changes: object): unknown {
  const result = target as Record<string, unknown>;
  for (const [name, value] of Object.entries(changes)) {
    const isPart = typeof value === 'object' && value !== null && !Array.isArray(value);
    result[name] = isPart && typeof result[name] === 'object' && result[name] ? merged(result[name], value) : value;
  }
  return result;
}

/** Turns a pull request of the collection into a merged one: it contains none. */
export const MERGED = {
  merged: true,
  merged_at: '2019-05-15T15:21:18Z',
  merge_commit_sha: 'c4295bd74fb0f4fda03689c3df3f2803b658fd85',
};
