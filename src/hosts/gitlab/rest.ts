/** How GitLab is asked, with a token that its operator or a job gives. */
import { HostRest } from '../api/rest.ts';
import type { RemotePlace } from '../remote.ts';

/** @param hint a sentence that says what to do if the token lacks the right */
export const gitlabRest = ({ apiUrl, token }: RemotePlace, hint: string): HostRest =>
  new HostRest({ name: 'GitLab', url: apiUrl, token, hint });

/** @param project its number or path */
export const projectPath = (project: string): string => `/projects/${encodeURIComponent(project)}`;
