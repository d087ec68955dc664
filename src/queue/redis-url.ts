/**
 * The forms of `REDIS_URL`, for Redis and Valkey alike:
 *
 * - `redis://user:password@host:6379/0`, `rediss://…` with TLS
 * - `redis+sentinel://user:password@host:26379,host:26379/name`, where the last part names the master
 * - `redis+cluster://user:password@host:6379,host:6379`
 *
 * With TLS, the last two begin with `rediss+`. User and password are for the servers; sentinels that need a password
 * get it from `?sentinel_password=`. All are percent-encoded.
 */
import { z } from 'zod';

interface RedisHost {
  host: string;
  port: number;
}

export interface RedisAddress {
  kind: 'single' | 'sentinel' | 'cluster';
  hosts: RedisHost[];
  isTls: boolean;
  username: string | undefined;
  password: string | undefined;
  /** A cluster has database 0 only. */
  database: number;
  /** The sentinels' name of the master; empty without sentinels. */
  masterName: string;
  sentinelPassword: string | undefined;
}

const PORTS = { single: 6379, sentinel: 26_379, cluster: 6379 };
const FORM = /^redis(s?)(?:\+(sentinel|cluster))?:\/\/(?:([^@/]*)@)?([^@/?#]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/;
const HOST = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i;

const schema = z.object({
  hosts: z.array(z.object({ host: z.string(), port: z.int().min(1).max(65_535) })).min(1),
  database: z.int().min(0).max(1_000_000),
  masterName: z.string(),
});

/** Undefined if the URL has none of these forms. */
export function parseRedisUrl(url: string): RedisAddress | undefined {
  const match = FORM.exec(url);
  if (!match) return undefined;
  const [, tls, mode, credentials, hostList = '', path = '', query = ''] = match;
  const kind = mode === 'sentinel' || mode === 'cluster' ? mode : 'single';
  const parts = path === '' ? [] : path.split('/');
  const masterName = kind === 'sentinel' ? parts.shift() : '';
  const [database = '0', ...rest] = parts;
  const hosts = hostList.split(',').map((text) => {
    const host = HOST.exec(text);
    return { host: host?.[1] ?? host?.[2], port: Number(host?.[3] ?? PORTS[kind]) };
  });
  const checked = schema.safeParse({ hosts, database: /^\d+$/.test(database) ? Number(database) : -1, masterName });
  if (!checked.success || rest.length > 0) return undefined;
  if (kind === 'single' && hosts.length > 1) return undefined;
  if (kind === 'sentinel' && !masterName) return undefined;
  if (kind === 'cluster' && checked.data.database !== 0) return undefined;
  const [username, password] = (credentials ?? '').split(/:(.*)/s);
  try {
    return {
      kind,
      ...checked.data,
      isTls: tls === 's',
      username: decodeURIComponent(username ?? '') || undefined,
      password: decodeURIComponent(password ?? '') || undefined,
      sentinelPassword: new URLSearchParams(query).get('sentinel_password') ?? undefined,
    };
  } catch {
    // A percent sign that encodes nothing.
    return undefined;
  }
}
