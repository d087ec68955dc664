/** The input and output of the webhook operation, for the OpenAPI document. */
import { z } from 'zod';
import { HOSTS } from '../../hosts/hosts.ts';
import type { HostSite } from '../../hosts/site.ts';
import type { RawBodyDescription } from '../../http/operation.ts';
import type { ResponseDescription } from '../../http/reply.ts';

const DELIVERY_EXAMPLE = '72d3162e-cc78-11e3-81ab-4c9367dc0958';

const PAYLOAD_EXAMPLE = {
  action: 'labeled',
  label: { name: 'urgent' },
  pull_request: {
    id: 279147437,
    number: 7,
    title: 'Round totals per line',
    user: { id: 583231, login: 'octocat' },
    base: { ref: 'main' },
    head: { ref: 'round-totals', sha: '2222222222222222222222222222222222222222', repo: { id: 186853002 } },
    merged_at: null,
    merge_commit_sha: null,
    updated_at: '2026-11-21T09:30:00Z',
  },
  repository: {
    id: 186853002,
    name: 'shop',
    owner: { login: 'acme' },
    html_url: 'https://github.com/acme/shop',
    default_branch: 'main',
  },
  sender: { id: 583231, login: 'octocat' },
};

export const WEBHOOK_BODY: RawBodyDescription = {
  description: 'A delivery as the host sends it: JSON, or a form with the JSON in the field `payload`.',
  content: {
    'application/json': { schema: { type: 'object' }, example: PAYLOAD_EXAMPLE },
    'application/x-www-form-urlencoded': {
      schema: { type: 'object', required: ['payload'], properties: { payload: { type: 'string' } } },
      example: { payload: JSON.stringify(PAYLOAD_EXAMPLE) },
    },
  },
};

export const deliverySchema = z.object({
  delivery: z.string().meta({ description: "The host's id of the delivery", example: DELIVERY_EXAMPLE }),
  status: z.enum(['queued', 'ignored']).meta({
    description: '`queued`: the queue holds what follows from the delivery. `ignored`: nothing follows from it',
    example: 'queued',
  }),
  reason: z.string().nullable().meta({
    description: 'Why the delivery makes no event, in a sentence; null if it makes one',
    example: null,
  }),
  events: z.int().min(0).meta({ description: 'Events that were queued', example: 1 }),
});

const problem = (status: number, title: string, description: string, detail: string): ResponseDescription => ({
  description,
  mediaType: 'application/problem+json',
  example: { type: 'about:blank', title, status, detail },
});

type Site = Pick<HostSite, 'name' | 'kind'>;

export const notSignedDetail = (site: Site): string =>
  `The signature is missing or wrong: ${HOSTS[site.kind].webhooks.signatureRule} in HOST_WEBHOOK_SECRETS. Configure the same secret on the host.`;
export const noSecretDetail = (site: Site): string =>
  `All deliveries are refused because this service has no secret to check them with. Set HOST_WEBHOOK_SECRETS to ${site.name}=<secret of the webhook>.`;
export const OTHER_OWNER_DETAIL = `The signature is correct, but its secret does not speak for the owner of the repository. The owner has its own secret in HOST_WEBHOOK_SECRETS: add ?owner=<owner> to the address of the webhook, and sign with that secret.`;

export const WEBHOOK_PROBLEMS = {
  403: problem(
    403,
    'Forbidden',
    'The signature is missing or wrong, its secret is that of another owner, or no secret is configured.',
    notSignedDetail({ name: 'github', kind: 'github' }),
  ),
  404: problem(
    404,
    'Not found',
    'The configuration has no host of this name.',
    'This service has no host of the name gitlab: see HOSTS.',
  ),
  413: problem(
    413,
    'Payload too large',
    'The body is larger than 25 MiB.',
    'The delivery is larger than 25 MiB. Make the host send JSON instead of a form, or raise INGEST_COMPRESSED_BYTES_MAX.',
  ),
  422: problem(
    422,
    'Unprocessable entity',
    'The signature is correct, but a header is missing or does not fit the body, the body is not JSON, or it is not what the host sends for this event.',
    'body: is not JSON.',
  ),
  503: {
    ...problem(
      503,
      'Service unavailable',
      'The queue is unavailable, or more arrives than can be read. Hosts do not retry automatically: redeliver it.',
      'The queue is unavailable right now. Try again later.',
    ),
    headers: {
      'retry-after': { description: 'Seconds to wait before trying again.', schema: { type: 'integer', example: 5 } },
    },
  },
} as const;
