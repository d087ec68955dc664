/** How GitHub is asked, GitHub Enterprise included, and who the token is. */
import { z } from 'zod';
import { HostError } from '../api/host-error.ts';
import { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';

/** @param hint a sentence that says what to do if the token lacks the right */
export const githubRest = ({ apiUrl, token }: Pick<RemotePlace, 'apiUrl' | 'token'>, hint: string): HostRest =>
  new HostRest({
    name: 'GitHub',
    url: apiUrl,
    token,
    headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
    hint,
  });

export const githubPath = (path: string): string => `/repos/${path.split('/').map(encodeURIComponent).join('/')}`;

const refusedSchema = z.object({ errors: z.array(z.object({ message: z.string() })).min(1) });

/** @param what is not shown if GraphQL refuses, for the message. Throws a HostError. */
export async function askGraphql<T>(
  rest: HostRest,
  { apiUrl }: RemotePlace,
  json: { query: string; variables?: Record<string, unknown> },
  schema: z.ZodType<T>,
  what: string,
): Promise<T> {
  const asked = { method: 'POST', json, isRepeatable: true } as const;
  // Beside the REST API, which on an enterprise host is `/api/v3`.
  const graphqlUrl = `${apiUrl.replace(/\/v3$/, '')}/graphql`;
  const answer = await rest.ask(graphqlUrl, z.union([z.object({ data: schema }), refusedSchema]), asked);
  if ('data' in answer) return answer.data;
  const reason = answer.errors.map(({ message }) => message).join('; ');
  throw new HostError(`GitHub does not show ${what}: ${reason}`, undefined, false);
}

/** An App is called `ci[bot]` by REST, and `ci` where GraphQL names it as an author. */
export const nameOf = (login: string | undefined): string | undefined => login?.replace(/\[bot\]$/, '').toLowerCase();
