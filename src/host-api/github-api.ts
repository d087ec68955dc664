/** How GitHub is asked, GitHub Enterprise included, and who the token is. */
import { z } from 'zod';
import { HostApi } from './host-api.ts';
import { HostError } from './host-error.ts';

export interface GithubRepository {
  /** Address of the REST API, without a trailing slash. */
  apiUrl: string;
  graphqlUrl: string;
  token: string;
  /** `acme/shop` */
  repository: string;
}

/** @param hint a sentence that says what to do if the token lacks the right */
export const githubApi = ({ apiUrl, token }: GithubRepository, hint: string): HostApi =>
  new HostApi({
    name: 'GitHub',
    url: apiUrl,
    token,
    headers: { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' },
    hint,
  });

export const githubPath = ({ repository }: GithubRepository): string =>
  `/repos/${repository.split('/').map(encodeURIComponent).join('/')}`;

const refusedSchema = z.object({ errors: z.array(z.object({ message: z.string() })).min(1) });

/** @param what is not shown if GraphQL refuses, for the message. Throws a HostError. */
export async function askGraphql<T>(
  api: HostApi,
  { graphqlUrl }: GithubRepository,
  json: { query: string; variables?: Record<string, unknown> },
  schema: z.ZodType<T>,
  what: string,
): Promise<T> {
  const asked = { method: 'POST', json, isRepeatable: true } as const;
  const answer = await api.ask(graphqlUrl, z.union([z.object({ data: schema }), refusedSchema]), asked);
  if ('data' in answer) return answer.data;
  const reason = answer.errors.map(({ message }) => message).join('; ');
  throw new HostError(`GitHub does not show ${what}: ${reason}`, undefined, false);
}

/** An App is called `ci[bot]` by REST, and `ci` where GraphQL names it as an author. */
export const nameOf = (login: string | undefined): string | undefined => login?.replace(/\[bot\]$/, '').toLowerCase();
