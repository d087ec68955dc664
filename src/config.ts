/**
 * The only reader of the environment: parsed once, checked, typed. Every variable is in docs/configuration.md.
 *
 * All wrong values are refused together at start, with a sentence each; none of the sentences shows a secret.
 */
import { resolve } from 'node:path';
import { z } from 'zod';
import { type CiTokenConfig, ciAudiences, ciIssuers, ciRules, ciTokensOf } from './ci-token-config.ts';
import { type CommentsConfig, commentsConfigOf, repositoryList } from './comments-config.ts';
import { UserError } from './errors.ts';
import { type HostSite, secretsOfSite } from './hosts/site.ts';
import { hostApps, hostNames, hostSecrets, hostSitesOf, hostTokens, namedHosts } from './hosts-config.ts';
import { type KeptConfig, keptOf, s3Place } from './kept-config.ts';
import { type OidcConfig, oidcOf, oidcScopes, oidcTenants, signInRules } from './oidc-config.ts';
import { parseRedisUrl } from './queue/redis-url.ts';
import { withSecretFiles } from './secret-file.ts';

const DEFAULTS = {
  port: 3000,
  retentionDays: 90,
  auditRetentionDays: 365,
  compressedBytesMax: 25 * 1024 * 1024,
  unpackedBytesMax: 200 * 1024 * 1024,
};

const onOff = z.enum(['on', 'off'], { error: 'must be on or off' }).transform((value) => value === 'on');
const whole = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);
const url = (...protocols: string[]) =>
  z.string().refine(
    (value) => {
      const parsed = URL.parse(value);
      return parsed !== null && protocols.includes(parsed.protocol);
    },
    `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  );

const redisUrl = z
  .string()
  .refine(
    (value) => parseRedisUrl(value) !== undefined,
    'must be redis://host:port, redis+sentinel://host:port,host:port/name or redis+cluster://host:port,host:port (rediss for TLS)',
  );

/** Secrets are sent there, so without TLS only within this machine. Paths are appended, so it has no query or fragment. */
const secretsUrl = url('http:', 'https:')
  .refine((value) => {
    const parsed = URL.parse(value);
    if (parsed === null || parsed.protocol === 'https:') return true;
    return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(parsed.hostname);
  }, 'must begin with https:// (http:// is for this machine only, because secrets are sent there)')
  .refine((value) => !/[?#@]/.test(value), 'must be an address alone, without a user, a query or a fragment');

/** Headers in OpenTelemetry's form: `name=value` pairs separated by commas, values percent-encoded. */
const headerPairs = z
  .string()
  .regex(/^\s*[\w-]+=[^,]*(?:,\s*[\w-]+=[^,]*)*$/, 'must look like name=value,other=value')
  .transform((value) =>
    Object.fromEntries(
      value.split(',').map((pair) => {
        const [name = '', ...rest] = pair.trim().split('=');
        return [name, decoded(rest.join('='))];
      }),
    ),
  );

const decoded = (value: string): string => {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};

const share = z
  .string()
  .regex(/^(?:0|1|0?\.\d{1,6}|1\.0+)$/, 'must be a share from 0 to 1')
  .transform(Number);

const environmentSchema = z.object({
  PORT: whole(0, 65_535).optional(),
  HOST: z.string().optional(),
  DATA_DIR: z.string().optional(),
  ROLE: z.enum(['all', 'api', 'worker'], { error: 'must be all, api or worker' }).optional(),
  DATABASE_URL: url('postgres:', 'postgresql:').optional(),
  DATABASE_DIRECT_URL: url('postgres:', 'postgresql:').optional(),
  REDIS_URL: redisUrl.optional(),
  CLICKHOUSE_URL: url('http:', 'https:').optional(),
  CLICKHOUSE_DATABASE: z
    .string()
    .regex(/^[a-z]\w*$/i, 'must be the name of a database: letters, digits and _')
    .optional(),
  CLICKHOUSE_CLUSTER: z.string().regex(/^\w+$/, 'must be the name of a cluster: letters, digits and _').optional(),
  PUBLIC_URL: url('http:', 'https:').optional(),
  RETENTION_DAYS: whole(1, 36_500).optional(),
  AUDIT_RETENTION_DAYS: whole(1, 36_500).optional(),
  CLAIM_DAYS: whole(2, 36_500).optional(),
  UPLOADS_KEPT_DAYS: whole(1, 365).optional(),
  UPLOADS_KEPT_IN: z.string().optional(),
  UPLOADS_KEPT_S3: s3Place.optional(),
  S3_ENDPOINT: url('http:', 'https:').optional(),
  S3_REGION: z.string().optional(),
  S3_ACCESS_KEY_ID: z.string().optional(),
  S3_SECRET_ACCESS_KEY: z.string().optional(),
  PULL_REQUEST_COMMENTS: repositoryList.optional(),
  COMMIT_CHECKS: repositoryList.optional(),
  HOSTS: namedHosts.optional(),
  HOST_AUTH: hostNames.optional(),
  HOST_TOKENS: hostTokens.optional(),
  HOST_APPS: hostApps.optional(),
  HOST_WEBHOOK_SECRETS: hostSecrets.optional(),
  OIDC_ISSUER: secretsUrl.optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_ACCESS: signInRules.optional(),
  OIDC_SCOPES: oidcScopes.optional(),
  OIDC_GROUPS_CLAIM: z.string().optional(),
  CI_TOKEN_ISSUERS: ciIssuers.optional(),
  CI_TOKEN_AUDIENCE: ciAudiences.optional(),
  CI_TOKEN_ACCESS: ciRules.optional(),
  OIDC_TENANTS: oidcTenants.optional(),
  OIDC_AUDIENCE: ciAudiences.optional(),
  HTTP_INGEST: onOff.optional(),
  INGEST_COMPRESSED_BYTES_MAX: whole(1_024, 2_147_483_647).optional(),
  INGEST_UNPACKED_BYTES_MAX: whole(1_024, 2_147_483_647).optional(),
  INGEST_PARSERS: whole(1, 64).optional(),
  RATE_LIMIT_PER_MINUTE: whole(1, 1_000_000).optional(),
  SHUTDOWN_DRAIN_MS: whole(0, 600_000).optional(),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error'], { error: 'must be debug, info, warn or error' }).optional(),
  METRICS_PORT: whole(0, 65_535).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('http:', 'https:').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: headerPairs.optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_TRACES_SAMPLER_ARG: share.optional(),
  UV_THREADPOOL_SIZE: whole(1, 1_024).optional(),
  BUN_JSC_forceRAMSize: whole(128 * 2 ** 20, Number.MAX_SAFE_INTEGER).optional(),
});

/** Every variable that the service reads. */
export const SETTINGS: readonly string[] = Object.keys(environmentSchema.shape);

export type Role = 'all' | 'api' | 'worker';

export interface Config {
  host: string;
  /** 0 means any free port. */
  port: number;
  role: Role;
  /** Absolute path; embedded stores and the admin key live below it. */
  dataDir: string;
  /** Undefined: embedded PostgreSQL. */
  databaseUrl: string | undefined;
  /** The same database without the pooler; undefined: there is no pooler. */
  databaseDirectUrl: string | undefined;
  /** Undefined: the queue lives in PostgreSQL. */
  redisUrl: string | undefined;
  /** Undefined: embedded ClickHouse. */
  clickhouseUrl: string | undefined;
  /** The cluster in `remote_servers` that the server belongs to; undefined: a single server. */
  clickhouseCluster: string | undefined;
  /** The name of the database at that server; undefined: `ci`. */
  clickhouseDatabase: string | undefined;
  /** Address under which clients reach the service, without a trailing slash; undefined: as in the request. */
  publicUrl: string | undefined;
  retentionDays: number;
  /** How long the trail of who changed what is kept. */
  auditRetentionDays: number;
  /** For how long it is known which executions of a source are stored; undefined: as long as they are. */
  claimDays: number | undefined;
  /** Undefined: what arrives is not kept beside the stores. */
  uploadsKept: KeptConfig | undefined;
  /** The repository hosts. The first is the default host, whose repositories have addresses without its name. */
  hosts: readonly HostSite[];
  /** What the service writes at repository hosts; undefined: nothing. */
  commentsConfig: CommentsConfig | undefined;
  /** Undefined: people sign in with application keys only. */
  oidc: OidcConfig | undefined;
  /** Undefined: CI jobs need keys. */
  ciTokens: CiTokenConfig | undefined;
  httpIngest: boolean;
  /** The largest request body in bytes, as sent and after decompression. */
  compressedBytesMax: number;
  unpackedBytesMax: number;
  /** Processes that read uploads of any size; undefined: as many as memory and processors allow. */
  parsers: number | undefined;
  /** How many requests a credential may send in a minute; undefined: any number. */
  rateLimitPerMinute: number | undefined;
  /** How long the process still answers requests after SIGTERM while it reports not ready, in milliseconds. */
  drainMs: number;
  logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** Separate port for metrics and health; 0 means any free port; undefined: the port of the API. */
  metricsPort: number | undefined;
  /** Undefined: no traces. */
  tracing: TracingConfig | undefined;
}

interface TracingConfig {
  endpoint: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  /** The share of traces to keep. */
  ratio: number;
}

/** The values that no log line may contain. */
export function secretsOf(config: Config): string[] {
  const redis = config.redisUrl === undefined ? undefined : parseRedisUrl(config.redisUrl);
  return [
    ...[config.databaseUrl, config.databaseDirectUrl, config.clickhouseUrl, config.tracing?.endpoint].flatMap(
      passwordsIn,
    ),
    ...[redis?.password, redis?.sentinelPassword].filter((password) => password !== undefined),
    ...config.hosts.flatMap(secretsOfSite),
    ...(config.oidc ? [config.oidc.clientSecret] : []),
    ...(config.uploadsKept?.s3 ? [config.uploadsKept.s3.secretAccessKey] : []),
    ...Object.values(config.tracing?.headers ?? {}),
  ];
}

/** Finds passwords where drivers read them: before the host, or as a parameter such as `password` or `sslpassword`. */
function passwordsIn(address: string | undefined): string[] {
  const url = address === undefined ? null : URL.parse(address);
  if (!url) return [];
  const parameters = [...url.searchParams].filter(([name]) => /password/i.test(name)).map(([, value]) => value);
  return [url.password, decoded(url.password), ...parameters].filter((password) => password !== '');
}

/** Throws a {@link UserError} that lists every wrong value. An empty variable counts as not set. */
export function readConfig(environment: Record<string, string | undefined> = process.env): Config {
  const set = Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
  const parsed = environmentSchema.safeParse(withSecretFiles(set));
  if (!parsed.success) {
    const sentences = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}.`);
    throw new UserError(`The configuration is invalid:\n${sentences.map((sentence) => `  ${sentence}`).join('\n')}`);
  }
  const env = parsed.data;
  const role = env.ROLE ?? 'all';
  if (role !== 'all' && !env.CLICKHOUSE_URL)
    throw new UserError(
      `ROLE=${role} needs CLICKHOUSE_URL: the embedded ClickHouse runs in one process, which must be API and worker at once (ROLE=all).`,
    );
  if (role !== 'all' && !env.DATABASE_URL)
    throw new UserError(`ROLE=${role} needs DATABASE_URL: the embedded PostgreSQL belongs to one process (ROLE=all).`);
  if (env.DATABASE_DIRECT_URL && !env.DATABASE_URL)
    throw new UserError('DATABASE_DIRECT_URL needs DATABASE_URL: it is the same database without the pooler.');
  if (env.CLICKHOUSE_DATABASE && !env.CLICKHOUSE_URL)
    throw new UserError('CLICKHOUSE_DATABASE needs CLICKHOUSE_URL: the embedded ClickHouse has one name for it.');
  if (env.CLICKHOUSE_CLUSTER && !env.CLICKHOUSE_URL)
    throw new UserError('CLICKHOUSE_CLUSTER needs CLICKHOUSE_URL: the address of a server in that cluster.');
  const hosts = hostSitesOf(env);
  const dataDir = resolve(env.DATA_DIR ?? './.data');
  return {
    host: env.HOST ?? '127.0.0.1',
    port: env.PORT ?? DEFAULTS.port,
    role,
    dataDir,
    databaseUrl: env.DATABASE_URL,
    databaseDirectUrl: env.DATABASE_DIRECT_URL,
    redisUrl: env.REDIS_URL,
    clickhouseUrl: env.CLICKHOUSE_URL,
    clickhouseCluster: env.CLICKHOUSE_CLUSTER,
    clickhouseDatabase: env.CLICKHOUSE_DATABASE,
    publicUrl: env.PUBLIC_URL?.replace(/(?<!\/)\/+$/, ''),
    retentionDays: env.RETENTION_DAYS ?? DEFAULTS.retentionDays,
    auditRetentionDays: env.AUDIT_RETENTION_DAYS ?? DEFAULTS.auditRetentionDays,
    claimDays: env.CLAIM_DAYS,
    uploadsKept: keptOf(env, dataDir),
    hosts,
    commentsConfig: commentsConfigOf(env, hosts),
    oidc: oidcOf(env),
    ciTokens: ciTokensOf(env),
    httpIngest: env.HTTP_INGEST ?? true,
    compressedBytesMax: env.INGEST_COMPRESSED_BYTES_MAX ?? DEFAULTS.compressedBytesMax,
    unpackedBytesMax: env.INGEST_UNPACKED_BYTES_MAX ?? DEFAULTS.unpackedBytesMax,
    parsers: env.INGEST_PARSERS,
    rateLimitPerMinute: env.RATE_LIMIT_PER_MINUTE,
    drainMs: env.SHUTDOWN_DRAIN_MS ?? 0,
    logLevel: env.LOG_LEVEL ?? 'info',
    metricsPort: env.METRICS_PORT,
    tracing: env.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: env.OTEL_EXPORTER_OTLP_ENDPOINT,
          headers: env.OTEL_EXPORTER_OTLP_HEADERS ?? {},
          serviceName: env.OTEL_SERVICE_NAME ?? 'ci-insights',
          ratio: env.OTEL_TRACES_SAMPLER_ARG ?? 1,
        }
      : undefined,
  };
}

/** For a command that is one part of the service, whatever ROLE says. */
export const readConfigAs = (role: Role): Config => readConfig({ ...process.env, ROLE: role });
