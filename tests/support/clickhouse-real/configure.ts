/** The configuration of a real ClickHouse server, and the first questions to it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

export const LIBRARY = fileURLToPath(
  new URL('../../../node_modules/@chdb/lib-linux-x64-gnu/libchdb.so', import.meta.url),
);

const settings = z.record(z.string(), z.union([z.string(), z.number()]));

const userSchema = z.object({
  name: z.string(),
  password: z.string(),
  /** `GRANT` statements without `TO`; undefined: everything. */
  grants: z.array(z.string()).optional(),
  /** Settings of the profile of this user. */
  profile: settings.default({}),
});
export type User = z.input<typeof userSchema>;

export const optionsSchema = z.object({
  /** Data folder. Absolute: clickhouse-local goes wrong with a relative one. */
  path: z.string(),
  port: z.int(),
  users: z.array(userSchema),
  /** For other servers; absent: it listens over HTTP only. */
  tcpPort: z.int().optional(),
  /** XML that goes into the configuration, such as `<remote_servers>`. */
  config: z.string().default(''),
});
export type ServerOptions = z.input<typeof optionsSchema>;
type Options = z.output<typeof optionsSchema>;

/** May do everything; for set-up and tests. */
export const ADMIN: User = { name: 'admin', password: 'admin-password' };

export interface Configured {
  data: string;
  config: string;
  listeners: string[];
}

export const xml = (text: string | number): string =>
  String(text).replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c] ?? c);

const tags = (values: z.output<typeof settings>): string =>
  Object.entries(values)
    .map(([name, value]) => `<${name}>${xml(value)}</${name}>`)
    .join('');

/** Writes config.xml and users.xml. */
export function configure({ path, port, tcpPort, users, config: more }: Options): Configured {
  const data = join(path, 'data');
  mkdirSync(data, { recursive: true });
  const all = [...users, userSchema.parse(ADMIN)];
  const entries = all.map(({ name, password, grants }) => {
    const queries = grants?.map((grant) => `<query>${xml(grant)}</query>`).join('');
    return `<${name}><password>${xml(password)}</password><networks><ip>127.0.0.1</ip></networks>
      <profile>of_${name}</profile><quota>default</quota>${queries === undefined ? '' : `<grants>${queries}</grants>`}</${name}>`;
  });
  const usersConfig = join(path, 'users.xml');
  // clickhouse-local starts as `default` with an empty password. So that one may do nothing but listen.
  writeFileSync(
    usersConfig,
    `<clickhouse>
  <profiles><default/><keepalive/>${all.map(({ name, profile }) => `<of_${name}>${tags(profile)}</of_${name}>`).join('')}</profiles>
  <quotas><default/></quotas>
  <users>
    <default><password></password><networks><ip>127.0.0.1</ip></networks><profile>keepalive</profile><quota>default</quota>
      <grants><query>GRANT SYSTEM LISTEN ON *.*</query><query>GRANT SELECT ON system.numbers</query></grants></default>
    ${entries.join('\n    ')}
  </users>
</clickhouse>\n`,
  );
  const config = join(path, 'config.xml');
  writeFileSync(
    config,
    `<clickhouse>
  <logger><errorlog>${xml(join(path, 'error.log'))}</errorlog><console>0</console></logger>
  <path>${xml(data)}/</path>
  <listen_host>127.0.0.1</listen_host>
  <http_port>${port}</http_port>
  ${tcpPort === undefined ? '' : `<tcp_port>${tcpPort}</tcp_port>`}
  <users_config>${xml(usersConfig)}</users_config>
  ${more}
</clickhouse>\n`,
  );
  return { data, config, listeners: tcpPort === undefined ? ['HTTP'] : ['TCP', 'HTTP'] };
}

/** Runs a statement and returns the answer; throws what the server says if it refuses. */
export async function ask(port: number, user: User, sql: string): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST',
    headers: { 'X-ClickHouse-User': user.name, 'X-ClickHouse-Key': user.password },
    body: sql,
    keepalive: false,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text.trim());
  return text;
}

/** Returns once a server answers there. A process that runs one has no other to wait for, so it gives up after a minute. */
export async function untilReady(port: number): Promise<void> {
  for (let tries = 0; tries < 1_200; tries++) {
    const response = await fetch(`http://127.0.0.1:${port}/ping`, { keepalive: false }).catch(() => undefined);
    if (response?.ok) return;
    await Bun.sleep(50);
  }
  throw new Error(`no ClickHouse answers at port ${port}`);
}
