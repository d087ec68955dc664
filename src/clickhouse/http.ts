/** The connection to a ClickHouse server, over HTTP. */
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { RELIED_ON } from './settings.ts';
import type { Topology } from './topology.ts';

/** Limits the socket; statements have their own limits (client.ts). Rebuilding a large month is one statement. */
const SOCKET_TIMEOUT_MS = 3_600_000;
const CONNECTIONS_MAX = 16;
/**
 * Below the server's keep_alive_timeout, 10 s by default; otherwise a request can hit a socket that is just being
 * closed.
 */
const IDLE_SOCKET_MS = 5_000;

export function overHttp(url: string, topology: Topology): ClickHouseClient {
  return createClient({
    url,
    application: 'ci-insights',
    request_timeout: SOCKET_TIMEOUT_MS,
    max_open_connections: CONNECTIONS_MAX,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_MS },
    compression: { request: true, response: true },
    // 255 names of 10,000 characters do not fit in a URL.
    use_multipart_params_auto: true,
    // Errors are thrown; the client would also print them, with a stack trace.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      ...RELIED_ON,
      ...topology.settings,
      // A statement that fails halfway is answered with an error, not with half its rows under status 200.
      wait_end_of_query: 1,
      // A read that is no longer waited for stops on the server, too.
      cancel_http_readonly_queries_on_client_close: 1,
    },
  });
}
