/** Checks addresses: the service, its public address, the repository host, the identity provider, and issuers of tokens. */
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { type Finding, ok, problem, reasonOf, TIMEOUT_MS, warning } from './finding.ts';

const aliveSchema = z.object({ status: z.literal('alive') });
const readySchema = z.object({ stores: z.record(z.string(), z.boolean()) });

const issuerSchema = z.object({ issuer: z.string() });

const ask = (address: string): Promise<Response> =>
  fetch(address, { signal: AbortSignal.timeout(TIMEOUT_MS), redirect: 'manual' });

/** Where a service with this configuration listens on this machine; undefined if it takes any free port. */
export function localAddress({ host, port }: Config): string | undefined {
  if (port === 0) return undefined;
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${port}`;
}

/** Asks a running service about its stores: the only way to check its embedded ClickHouse. */
export async function checkService(address: string): Promise<Finding[]> {
  try {
    const { stores } = readySchema.parse(await (await ask(`${address}/healthz/ready`)).json());
    const down = Object.entries(stores).flatMap(([store, isUp]) => (isUp ? [] : [store]));
    return [
      down.length === 0
        ? ok('Service', `It is running at ${address}, and its stores respond.`)
        : problem('Service', `It is running at ${address}, but does not reach ${down.join(' and ')}.`, 'Read its log.'),
    ];
  } catch (error) {
    const remedy = 'Read its log, and check that PORT and HOST are the same as those it was started with.';
    return [
      problem('Service', `It uses the data folder, but does not respond at ${address}: ${reasonOf(error)}.`, remedy),
    ];
  }
}

const isLocal = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);

export async function checkPublicUrl({ publicUrl, host }: Config): Promise<Finding[]> {
  const check = 'Public address';
  if (publicUrl === undefined)
    return isLocal(host)
      ? []
      : [
          warning(
            check,
            'PUBLIC_URL is not set, so links repeat the address of the request.',
            'Set it if there is a proxy.',
          ),
        ];
  const clear: Finding[] =
    URL.parse(publicUrl)?.protocol === 'http:' && !isLocal(new URL(publicUrl).hostname)
      ? [
          warning(
            check,
            `${publicUrl} is not https: keys are sent unencrypted.`,
            'Terminate TLS in front of it, and use https.',
          ),
        ]
      : [];
  try {
    const response = await ask(`${publicUrl}/healthz/live`);
    if (aliveSchema.safeParse(await response.json()).success) return [...clear, ok(check, `${publicUrl} responds.`)];
    return [...clear, warning(check, `Something else responds at ${publicUrl}.`, 'Correct PUBLIC_URL or the proxy.')];
  } catch (error) {
    const remedy =
      'Start the service, or correct PUBLIC_URL or the proxy. The address may be reachable only from elsewhere.';
    return [...clear, warning(check, `${publicUrl} does not respond from here: ${reasonOf(error)}.`, remedy)];
  }
}

export async function checkHost(config: Config): Promise<Finding[]> {
  const { hosts, httpIngest } = config;
  const secret = hosts.some(({ secrets, ownerSecrets }) => secrets.length > 0 || ownerSecrets.size > 0)
    ? ok('Host webhooks', 'The secret is set.')
    : warning(
        'Host webhooks',
        'HOST_WEBHOOK_SECRETS is not set, so deliveries are refused and the event log has no pull-request events.',
        'Create one with `openssl rand -hex 32`. docs/operations.md explains how to add the webhook.',
      );
  const asked = hosts.filter(({ isAsked, credential }) => isAsked || credential !== undefined);
  return [...(httpIngest ? [secret] : []), ...(await Promise.all(asked.map(({ apiUrl }) => checkHostApi(apiUrl))))];
}

async function checkHostApi(address: string): Promise<Finding> {
  const check = 'Repository host';
  try {
    await ask(address);
    return ok(check, `${address} responds.`);
  } catch (error) {
    const remedy =
      'Until it does, requests with its tokens get 503, and comments and checks wait. Check the network and HOSTS.';
    return warning(check, `${address} does not respond: ${reasonOf(error)}.`, remedy);
  }
}

/** Checks the first steps of a sign-in. Whether the provider accepts the client, only a sign-in shows. */
export async function checkIdentityProvider({ oidc }: Config): Promise<Finding[]> {
  if (!oidc) return [];
  const check = 'Identity provider';
  const address = oidc.issuer.replace(/\/$/, '');
  try {
    const { issuer } = issuerSchema.parse(await (await ask(`${address}/.well-known/openid-configuration`)).json());
    if (new URL(issuer).href === new URL(oidc.issuer).href) return [ok(check, `${address} responds.`)];
    return [problem(check, `${address} says that its address is ${issuer}.`, 'Set OIDC_ISSUER to that address.')];
  } catch (error) {
    const remedy = 'Until it does, people sign in with keys only. Check the network and OIDC_ISSUER.';
    return [warning(check, `${address} does not respond as a provider: ${reasonOf(error)}.`, remedy)];
  }
}

/** Checks that each CI describes itself under the address that its tokens name. */
export async function checkCiIssuers({ ciTokens }: Config): Promise<Finding[]> {
  const findings = (ciTokens?.issuers ?? []).map(async ({ name, url }): Promise<Finding> => {
    const check = `Identity tokens of ${name}`;
    try {
      const address = `${url.replace(/\/$/, '')}/.well-known/openid-configuration`;
      const { issuer } = issuerSchema.parse(await (await ask(address)).json());
      if (issuer === url) return ok(check, `${url} responds.`);
      return problem(check, `${url} says that its address is ${issuer}.`, 'Write that address in CI_TOKEN_ISSUERS.');
    } catch (error) {
      const remedy = 'Until it does, its jobs get no keys. Check the network and CI_TOKEN_ISSUERS.';
      return warning(check, `${url} does not respond as an issuer: ${reasonOf(error)}.`, remedy);
    }
  });
  return Promise.all(findings);
}
