/**
 * How a client without a key finds out who signs its person in: the metadata of a protected resource (RFC 9728), and the
 * challenge that leads there.
 */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { KeyScope } from '../domain/key-scope.ts';
import type { Credential } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { notFound, PROBLEM_MEDIA_TYPE } from '../http/problems.ts';
import type { LackingScope } from './tool.ts';

interface Authorization {
  /** Whose access tokens are credentials here. */
  issuer: string;
  /** What a client asks the provider for, with spaces between. */
  scopes: string;
  /** The address of the tools, as clients reach it. */
  resource: string;
  /** The address of the metadata. */
  metadata: string;
}

const NO_PROVIDER = 'This service has no identity provider: send an application key.';
const METADATA = '/.well-known/oauth-protected-resource';
/** Undefined without an identity provider, which needs the public address as well. */
export function authorizationOf(
  oidc: { issuer: string; scopes: string } | undefined,
  publicUrl: string | undefined,
): Authorization | undefined {
  if (!oidc || publicUrl === undefined) return undefined;
  const { issuer, scopes } = oidc;
  return { issuer, scopes, resource: `${publicUrl}/mcp`, metadata: `${publicUrl}${METADATA}/mcp` };
}

/** Goes with 401: where to sign in, and for what. Without a provider there is nothing to say but that a key is needed. */
export function challengeOf(authorization: Authorization | undefined, request: Request): string {
  const parts = [
    ...(request.headers.has('authorization') ? ['error="invalid_token"'] : []),
    ...(authorization ? [`resource_metadata="${authorization.metadata}"`, `scope="${authorization.scopes}"`] : []),
  ];
  return `Bearer ${parts.length > 0 ? parts.join(', ') : 'realm="ci-insights"'}`;
}

export const QUARANTINE_SCOPE = 'Quarantines need a key with the scope ci or admin.';
/** Scopes of keys that may quarantine. */
const MAY_QUARANTINE: ReadonlySet<KeyScope> = new Set(['ci', 'admin']);

/**
 * Goes with 403, for a key that may not do what a tool asks. What a person who has signed in may do is up to the rules of the
 * service: no other scope of a token changes it, so a client is not sent to ask for one.
 */
export const lackingScopeOf = (
  authorization: Authorization | undefined,
  { application }: Pick<Credential, 'application'>,
): LackingScope | undefined =>
  application && !MAY_QUARANTINE.has(application.scope)
    ? {
        challenge: { scopes: ['ci'], errorDescription: QUARANTINE_SCOPE },
        metadata: authorization?.metadata,
      }
    : undefined;

const schema = z.object({
  resource: z.string().meta({ example: 'https://ci.example.com/mcp' }),
  resource_name: z.string().meta({ example: 'ci-insights' }),
  authorization_servers: z.array(z.string()).meta({ example: ['https://login.example.com'] }),
  scopes_supported: z.array(z.string()).meta({ example: ['openid', 'profile', 'email'] }),
  bearer_methods_supported: z.array(z.string()).meta({ example: ['header'] }),
});

export function mountAuthorization(app: AnyElysia, http: Http, authorization: Authorization | undefined): void {
  for (const [path, operationId] of [
    [`${METADATA}/mcp`, 'getMcpResourceMetadata'],
    [METADATA, 'getResourceMetadata'],
  ] as const)
    mount(app, http, 'GET', path, {
      operationId,
      tag: 'Service',
      summary: 'Who signs people in for the tools at /mcp',
      description:
        'The metadata of a protected resource (RFC 9728). 404 without an identity provider: then clients need a key.',
      access: 'public',
      responses: {
        200: { description: 'The metadata.', schema },
        404: {
          description: 'No identity provider is configured.',
          mediaType: PROBLEM_MEDIA_TYPE,
          example: { type: 'about:blank', title: 'Not found', status: 404, detail: NO_PROVIDER },
        },
      },
      handle: () => {
        if (!authorization) throw notFound(NO_PROVIDER);
        const { issuer, scopes, resource } = authorization;
        return {
          body: {
            resource,
            resource_name: 'ci-insights',
            authorization_servers: [issuer],
            scopes_supported: scopes.split(' '),
            bearer_methods_supported: ['header'],
          },
        };
      },
    });
}
