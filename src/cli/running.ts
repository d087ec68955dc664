/**
 * A running service that a command asks instead of opening the stores: the one it is told, or else the one that holds
 * the lock of the data folder.
 */
import { existsSync, readFileSync } from 'node:fs';
import type { z } from 'zod';
import { adminKeyFile } from '../access/admin-key.ts';
import { readClientEnvironment } from '../client/settings.ts';
import { readConfig } from '../config.ts';
import { jsonOf } from '../domain/json.ts';
import { UserError } from '../errors.ts';
import { announcedAddress } from '../service-lock.ts';

export interface ServiceFlags {
  url?: string;
}

export interface RunningService {
  /** Without a trailing slash. */
  url: string;
  token: string;
}

/** Longer than the service works on any one answer. */
const ANSWER_MS_MAX = 60_000;

/** The service to ask; undefined: the command opens the stores itself. */
export function findService(flags: ServiceFlags): RunningService | undefined {
  const environment = readClientEnvironment();
  const given = environment.token;
  const url = (flags.url ?? environment.url)?.replace(/(?<!\/)\/+$/, '');
  if (url !== undefined) {
    if (!given) throw new UserError('An application key is required: set CI_INSIGHTS_TOKEN or CI_INSIGHTS_TOKEN_FILE.');
    return { url, token: given };
  }
  const { dataDir, databaseUrl, clickhouseUrl } = readConfig();
  // Without embedded stores, the folder belongs to no process.
  if (databaseUrl && clickhouseUrl) return undefined;
  const found = announcedAddress(dataDir);
  if (found === undefined) return undefined;
  const keyFile = adminKeyFile(dataDir);
  const token = existsSync(keyFile) ? readFileSync(keyFile, 'utf8').trim() : given;
  if (!token)
    throw new UserError(
      `The service at ${found} uses ${dataDir}, so it must be asked: set CI_INSIGHTS_TOKEN or CI_INSIGHTS_TOKEN_FILE.`,
    );
  return { url: found, token };
}

/** The service that runs on the embedded ClickHouse: only it can read and change what is there. */
export const serviceWithEngine = (): RunningService | undefined =>
  readConfig().clickhouseUrl === undefined ? findService({}) : undefined;

/** The answer of an operation. Throws a {@link UserError} with what the service says against it. */
export async function ask<T>(
  { url, token }: RunningService,
  schema: z.ZodType<T>,
  path: string,
  method: 'GET' | 'POST' | 'DELETE' = 'GET',
  body?: unknown,
): Promise<T> {
  const headers = {
    authorization: `Bearer ${token}`,
    accept: 'application/json',
    ...(body !== undefined && { 'content-type': 'application/json' }),
  };
  const signal = AbortSignal.timeout(ANSWER_MS_MAX);
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`${url}${path}`, { method, headers, signal, ...sent }).catch((cause) => {
    const message = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
    throw new UserError(`${url} cannot be reached: ${message}`, { cause });
  });
  const text = await response.text();
  if (!response.ok)
    throw new UserError(`${detailOf(text) ?? response.statusText} (${url} answered ${response.status})`);
  const parsed = schema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new UserError(`The answer of ${url} is not as expected: check the address, and that its version is as new.`);
}

function detailOf(text: string): string | undefined {
  const problem = jsonOf(text);
  return typeof problem === 'object' && problem !== null && 'detail' in problem ? String(problem.detail) : undefined;
}
