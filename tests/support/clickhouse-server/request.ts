/** Reads the statement, parameters and settings from a request of ClickHouse's HTTP interface. */
import { gunzipSync } from 'node:zlib';
import type { Statement } from './engine.ts';

/** The default `http_max_uri_size` of a server. */
export const URI_BYTES_MAX = 1_048_576;
/** The default of a server, for the statement without the data of an INSERT. */
const QUERY_BYTES_MAX = '262144';

/** An error as ClickHouse numbers it. */
export class Refused extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** Not settings: they name the request, its user, its database. */
const NO_SETTINGS = new Set(['query', 'query_id', 'database', 'session_id', 'user', 'password', 'role']);

export async function readStatement(
  url: URL,
  headers: Record<string, string | undefined>,
  sent: Buffer,
): Promise<Statement> {
  const fields = new Map(url.searchParams);
  let body = headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
  const type = headers['content-type'] ?? '';
  if (type.startsWith('multipart/form-data')) {
    const form = await new Response(Uint8Array.from(body), { headers: { 'content-type': type } }).formData();
    for (const [name, value] of form) if (typeof value === 'string') fields.set(name, value);
    body = Buffer.alloc(0);
  }
  const settings: Record<string, string> = {};
  const parameters: Record<string, string> = {};
  for (const [name, value] of fields)
    if (name.startsWith('param_')) parameters[name.slice('param_'.length)] = value;
    else if (!NO_SETTINGS.has(name)) settings[name] = value;
  const query = fields.get('query') ?? '';
  const sql = [query, body.toString('utf8')].filter((part) => part !== '').join('\n');
  if ((query === '' ? sql.length : query.length) > Number(settings.max_query_size ?? QUERY_BYTES_MAX))
    throw new Refused(62, `Max query size exceeded (can be increased with the max_query_size setting)`);
  for (const [, name] of withoutData(sql, query).matchAll(/\{(\w+)\s*:\s*[A-Z][\w(), ]*\}/g))
    if (name && !(name in parameters)) throw new Refused(456, `Query parameter ${name} was not set`);
  return { sql, settings, parameters };
}

/** The data of an INSERT may contain anything. */
const withoutData = (sql: string, query: string): string => (query === '' ? sql : query);
