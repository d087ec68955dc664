/** Build statuses as both Bitbucket Cloud and Bitbucket Data Center keep them: one of each key for a commit. */
import { z } from 'zod';
import { HostError } from '../api/host-error.ts';
import type { HostRest } from '../api/rest.ts';
import { CHECK_NAME, type CheckWritten, type WantedCheck } from './check-host.ts';

const buildSchema = z.object({ state: z.string(), description: z.string().nullish(), url: z.string().nullish() });

interface Addresses {
  readFrom(key: string): string;
  writeTo: string;
}

/** Throws a {@link HostError}. */
export async function writeBuild(
  rest: HostRest,
  { conclusion, title: description, url }: WantedCheck,
  { readFrom, writeTo }: Addresses,
): Promise<CheckWritten> {
  const known = await rest.ask(readFrom(CHECK_NAME), buildSchema).catch((error: unknown) => {
    if (error instanceof HostError && error.status === 404) return undefined;
    throw error;
  });
  const state = conclusion === 'success' ? 'SUCCESSFUL' : 'FAILED';
  if (known?.state === state && known.description === description && known.url === url) return 'unchanged';
  const json = { key: CHECK_NAME, name: CHECK_NAME, state, description, url };
  await rest.ask(writeTo, z.unknown(), { method: 'POST', json });
  return known ? 'updated' : 'created';
}
