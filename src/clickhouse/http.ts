/** The connection to a ClickHouse server, over HTTP. */
import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Topology } from './topology.ts';

/** Of sockets; statements have limits of their own (client.ts). A rebuild of a large month is one statement. */
const SOCKET_TIMEOUT_MS = 3_600_000;
const CONNECTIONS_MAX = 16;
/** Below the server's keep_alive_timeout, 10 s as it comes, or a request meets a socket that is being closed. */
const IDLE_SOCKET_MS = 5_000;

export function overHttp(url: string, topology: Topology): ClickHouseClient {
  return createClient({
    url,
    application: 'ci-insights',
    request_timeout: SOCKET_TIMEOUT_MS,
    max_open_connections: CONNECTIONS_MAX,
    keep_alive: { enabled: true, idle_socket_ttl: IDLE_SOCKET_MS },
    compression: { request: true, response: true },
    // 255 names of 10,000 characters do not fit into a URL.
    use_multipart_params_auto: true,
    // What goes wrong is thrown; the client would print it beside, with its stack.
    log: { level: ClickHouseLogLevel.OFF },
    clickhouse_settings: {
      ...topology.settings,
      output_format_json_quote_64bit_integers: 0,
      // A statement that fails half way answers with an error, not with half of its rows under status 200.
      wait_end_of_query: 1,
      // A reader who has gone, or whom we stopped waiting for, costs no more.
      cancel_http_readonly_queries_on_client_close: 1,
    },
  });
}
