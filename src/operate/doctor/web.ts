/** Looks at addresses: the service itself, as clients see it, and the repository host. */
import { z } from 'zod';
import type { Config } from '../../config.ts';
import { type Finding, ok, PATIENCE_MS, problem, reasonOf, warning } from './finding.ts';

const aliveSchema = z.object({ status: z.literal('alive') });
const readySchema = z.object({ stores: z.record(z.string(), z.boolean()) });

const ask = (address: string): Promise<Response> =>
  fetch(address, { signal: AbortSignal.timeout(PATIENCE_MS), redirect: 'manual' });

/** Where a service of this configuration on this machine answers; undefined when it takes any free port. */
export function localAddress({ host, port }: Config): string | undefined {
  if (port === 0) return undefined;
  const reachable =
    host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  return `http://${reachable}:${port}`;
}

/** A running service's own word about its stores; the embedded ClickHouse can be asked in no other way. */
export async function lookAtService(address: string): Promise<Finding[]> {
  try {
    const { stores } = readySchema.parse(await (await ask(`${address}/healthz/ready`)).json());
    const down = Object.entries(stores).flatMap(([store, isUp]) => (isUp ? [] : [store]));
    return [
      down.length === 0
        ? ok('Service', `It runs at ${address}, and its stores answer.`)
        : problem('Service', `It runs at ${address}, but ${down.join(' and ')} does not answer it.`, 'Read its log.'),
    ];
  } catch (error) {
    const remedy = 'Read its log, and look whether PORT and HOST are those with which it was started.';
    return [
      problem('Service', `It holds the data folder, but does not answer at ${address}: ${reasonOf(error)}.`, remedy),
    ];
  }
}

const isLocal = (host: string): boolean => /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(host);

export async function lookAtPublicUrl({ publicUrl, host }: Config): Promise<Finding[]> {
  const check = 'Public address';
  if (publicUrl === undefined)
    return isLocal(host)
      ? []
      : [warning(check, 'PUBLIC_URL is not set: links are as requests say.', 'Set it where a proxy stands in front.')];
  const clear: Finding[] =
    URL.parse(publicUrl)?.protocol === 'http:' && !isLocal(new URL(publicUrl).hostname)
      ? [warning(check, `${publicUrl} is not https: keys travel in clear.`, 'Put TLS in front, and say https.')]
      : [];
  try {
    const response = await ask(`${publicUrl}/healthz/live`);
    if (aliveSchema.safeParse(await response.json()).success) return [...clear, ok(check, `${publicUrl} answers.`)];
    return [...clear, warning(check, `Something else answers at ${publicUrl}.`, 'Correct PUBLIC_URL or the proxy.')];
  } catch (error) {
    const remedy = 'Start the service, or correct PUBLIC_URL or the proxy; it may be reachable from elsewhere only.';
    return [...clear, warning(check, `${publicUrl} does not answer from here: ${reasonOf(error)}.`, remedy)];
  }
}

export async function lookAtHost({ githubApiUrl, webhookSecrets, httpIngest }: Config): Promise<Finding[]> {
  const secret =
    webhookSecrets.length > 0
      ? ok('Host webhooks', 'The secret is set.')
      : warning(
          'Host webhooks',
          'GITHUB_WEBHOOK_SECRET is not set: deliveries are refused, so the event log knows quarantines only.',
          'Make one with `openssl rand -hex 32`; docs/operations.md says how the webhook is added.',
        );
  return [...(httpIngest ? [secret] : []), ...(githubApiUrl === undefined ? [] : [await lookAtHostApi(githubApiUrl)])];
}

async function lookAtHostApi(address: string): Promise<Finding> {
  const check = 'Repository host';
  try {
    await ask(address);
    return ok(check, `${address} answers.`);
  } catch (error) {
    const remedy = 'Its tokens are answered with 503 until it does. Look at the network, or at GITHUB_API_URL.';
    return warning(check, `${address} does not answer: ${reasonOf(error)}.`, remedy);
  }
}
