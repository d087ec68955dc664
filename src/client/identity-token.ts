/**
 * Without a key: the identity token that a CI gives to its job, and the short key that the service gives for it. Neither is
 * printed, and both stay in memory.
 */
import { z } from 'zod';
import { version } from '../../package.json' with { type: 'json' };
import { type KeySource, refusalOf } from './service.ts';
import { ServiceError } from './service-error.ts';
import type { ClientEnvironment } from './settings.ts';

/** Gets an identity token of the job. Throws {@link ServiceError}. */
export type IdentityTokenSource = (timeoutMs: number) => Promise<string>;

/**
 * The way to an identity token that the environment offers; undefined: none. A token that is given comes first: jobs of GitLab
 * have it under the name that their file says.
 *
 * @param url the address of the service
 */
export function identityTokenSource(
  { identityToken, audience: given, variables: env }: ClientEnvironment,
  url: string,
): IdentityTokenSource | undefined {
  const audience = given ?? url;
  if (identityToken !== undefined) return async () => identityToken;
  const { CIRCLE_OIDC_TOKEN_V2: circle } = env;
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = env;
  if (address && secret) return (timeoutMs) => fromGithub(address, secret, audience, timeoutMs);
  if (env.BUILDKITE && env.BUILDKITE_AGENT_ACCESS_TOKEN) return (timeoutMs) => fromBuildkite(audience, timeoutMs);
  if (circle) return async () => circle;
  return undefined;
}

const githubSchema = z.object({ value: z.string().min(1) });

async function fromGithub(address: string, secret: string, audience: string, timeoutMs: number): Promise<string> {
  const url = new URL(address);
  url.searchParams.set('audience', audience);
  const { sendRequest } = await import('../http-request.ts');
  try {
    const { status, text } = await sendRequest(url, {
      method: 'GET',
      headers: {
        accept: 'application/json',
        authorization: `Bearer ${secret}`,
        'user-agent': `ci-insights/${version}`,
      },
      timeoutMs,
    });
    if (status !== 200) throw new Error(`it answered ${status}`);
    return githubSchema.parse(JSON.parse(text)).value;
  } catch (error) {
    throw new ServiceError(`GitHub gave the job no identity token: ${reasonOf(error)}`, false, undefined, error);
  }
}

async function fromBuildkite(audience: string, timeoutMs: number): Promise<string> {
  // Node takes a while to load what starts programs, which other jobs do not need.
  const [{ execFile }, { promisify }] = await Promise.all([import('node:child_process'), import('node:util')]);
  try {
    const args = ['oidc', 'request-token', '--audience', audience];
    const { stdout } = await promisify(execFile)('buildkite-agent', args, { timeout: Math.ceil(timeoutMs) });
    return stdout.trim();
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw new ServiceError('buildkite-agent gave the job no identity token', isMissing, undefined, error);
  }
}

const keySchema = z.object({ token: z.string(), expires_at: z.string() });
/** A key that expires so soon is replaced before it is used. */
const RENEWED_MS = 60_000;

/** Exchanges identity tokens for keys of the service at this address, one after the other. */
export function keySourceOf(url: string, identity: IdentityTokenSource): KeySource {
  let key: { token: string; until: number } | undefined;
  let exchanging: Promise<{ token: string; until: number }> | undefined;
  return async (timeoutMs) => {
    if (key && Date.now() < key.until) return key.token;
    exchanging ??= exchange(url, identity, timeoutMs).finally(() => {
      exchanging = undefined;
    });
    key = await exchanging;
    return key.token;
  };
}

async function exchange(url: string, identity: IdentityTokenSource, timeoutMs: number) {
  const { sendRequest } = await import('../http-request.ts');
  const token = await identity(timeoutMs);
  const askedAt = Date.now();
  const answer = await sendRequest(new URL(`${url}/v1/auth/ci`), {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': `ci-insights/${version}` },
    body: Buffer.from(JSON.stringify({ token })),
    timeoutMs,
  });
  if (answer.status !== 201) throw refusalOf(url, answer);
  const made = keySchema.safeParse(JSON.parse(answer.text));
  if (!made.success)
    throw new ServiceError('the answer is not from ci-insights: check the address', true, answer.status);
  const lifetimeMs = Date.parse(made.data.expires_at) - (serverTime(answer.headers.date) ?? askedAt);
  return { token: made.data.token, until: askedAt + lifetimeMs - RENEWED_MS };
}

/** The clock of a CI machine may be wrong, so the end of a key counts from the time of the answer. */
const serverTime = (date: string | undefined): number | undefined => {
  const at = Date.parse(date ?? '');
  return Number.isNaN(at) ? undefined : at;
};

const reasonOf = (error: unknown): string => (error instanceof z.ZodError ? 'its answer has none' : String(error));
