/** How Gitea and Forgejo are asked, with a token that the operator or a job gives. https://docs.gitea.com/api/ */
import { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';

/** @param hint a sentence that says what to do if the token lacks the right */
export const giteaRest = ({ apiUrl, token }: RemotePlace, hint: string): HostRest =>
  new HostRest({ name: 'Gitea', url: apiUrl, token, scheme: 'token', hint });

export const repositoryPath = (path: string): string => `/repos/${path.split('/').map(encodeURIComponent).join('/')}`;

/** How Gitea names the parameter for the length of a page. */
export const SIZE_NAME = 'limit';
