/**
 * How Bitbucket Data Center is asked, with an HTTP access token of a repository, a project or a person.
 * https://developer.atlassian.com/server/bitbucket/rest/
 */
import { z } from 'zod';
import { type Listed, listPages } from '../api/pages.ts';
import { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';

/** @param hint a sentence that says what to do if the token lacks the right */
export const centerRest = ({ apiUrl, token }: RemotePlace, hint: string): HostRest =>
  new HostRest({ name: 'Bitbucket Data Center', url: apiUrl, token, hint });

export const repositoryPath = (path: string): string => {
  const [project = '', ...slug] = path.split('/');
  return `/projects/${encodeURIComponent(project)}/repos/${encodeURIComponent(slug.join('/'))}`;
};

const PER_PAGE = 500;

/** Each page says where the next one starts. */
export const listFrom = <T>(rest: HostRest, path: string, item: z.ZodType<T>): Promise<Listed<T>> => {
  const schema = z.object({ values: z.array(item), nextPageStart: z.number().nullish() });
  return listPages('0', async (start) => {
    const { values, nextPageStart } = await rest.ask(`${path}?limit=${PER_PAGE}&start=${start}`, schema);
    return { items: values, next: nextPageStart == null ? undefined : String(nextPageStart) };
  });
};
