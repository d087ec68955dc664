/** Settings from the environment of a CI job: where the service is, its key, and who runs the job. */
import { readFileSync } from 'node:fs';
import { UserError } from '../errors.ts';

export interface ClientEnvironment {
  url: string | undefined;
  token: string | undefined;
  /** An identity token of the job, which stands in for a key. */
  identityToken: string | undefined;
  /** For whom the CI is asked for one; undefined: for the address of the service. */
  audience: string | undefined;
  /** Token of the repository host, for comments and checks. */
  commentToken: string | undefined;
  /** All variables; among them those in which CI providers describe the run. */
  variables: Record<string, string | undefined>;
}

/** Empty variables count as not set. Throws a {@link UserError}, which never contains the token. */
export function readClientEnvironment(
  environment: Record<string, string | undefined> = process.env,
): ClientEnvironment {
  const url = environment.CI_INSIGHTS_URL || undefined;
  if (url !== undefined && !isWebAddress(url))
    throw new UserError('CI_INSIGHTS_URL must be an http:// or https:// URL without a password in it.');
  return {
    url,
    token: environment.CI_INSIGHTS_TOKEN || tokenIn(environment.CI_INSIGHTS_TOKEN_FILE),
    identityToken: environment.CI_INSIGHTS_ID_TOKEN || undefined,
    audience: environment.CI_INSIGHTS_AUDIENCE || undefined,
    commentToken: environment.CI_INSIGHTS_COMMENT_TOKEN || undefined,
    variables: environment,
  };
}

/** Without a user or a password in it, because messages show the address. */
export const isWebAddress = (text: string): boolean => URL.canParse(text) && /^https?:\/\/[^/@]+(?:\/|$)/i.test(text);

/** A secret that is mounted as a file is in no environment, which other programs of the job can read. */
function tokenIn(path: string | undefined): string | undefined {
  if (!path) return undefined;
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch (cause) {
    throw new UserError(`CI_INSIGHTS_TOKEN_FILE names ${path}, which cannot be read.`, { cause });
  }
}

/** For a process that got them in another way than by its environment, which can be read from outside. */
export const setVariables = (variables: Readonly<Record<string, string>>): void => {
  Object.assign(process.env, variables);
};
