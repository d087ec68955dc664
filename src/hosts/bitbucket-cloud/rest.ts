/**
 * How Bitbucket Cloud is asked, with an access token of a repository, a project or a workspace.
 * https://developer.atlassian.com/cloud/bitbucket/rest/intro/
 */
import { z } from 'zod';
import { HostError } from '../api/host-error.ts';
import { type Listed, listPages } from '../api/pages.ts';
import { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';

/** @param hint a sentence that says what to do if the token lacks the right */
export const cloudRest = ({ apiUrl, token }: RemotePlace, hint: string): HostRest =>
  new HostRest({ name: 'Bitbucket Cloud', url: apiUrl, token, hint });

export const repositoryPath = (path: string): string =>
  `/repositories/${path.split('/').map(encodeURIComponent).join('/')}`;

/** Each page has the whole address of the next one. The token is sent nowhere else than to the API. */
export const listLinked = <T>(
  rest: HostRest,
  { apiUrl }: RemotePlace,
  path: string,
  item: z.ZodType<T>,
): Promise<Listed<T>> => {
  const schema = z.object({ values: z.array(item), next: z.string().optional() });
  return listPages(path, async (at) => {
    const { values, next } = await rest.ask(at, schema);
    if (next !== undefined && URL.parse(next)?.origin !== new URL(apiUrl).origin)
      throw new HostError('Bitbucket names a next page that is elsewhere', undefined, false);
    return { items: values, next };
  });
};
