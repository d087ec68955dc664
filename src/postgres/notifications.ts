/**
 * Notifications from PostgreSQL (NOTIFY) about changes made by other processes, on a separate connection.
 *
 * A notification is never the only way to learn of a change, because it may be missed: while the connection is down, or
 * behind a pooler in transaction mode, where LISTEN has no effect. So every listener also polls, less often while
 * {@link Notifications.isConnected}. That is true only while heartbeats, sent through the ordinary connections, arrive
 * here.
 */
import { randomUUID } from 'node:crypto';
import pTimeout from 'p-timeout';
import pg from 'pg';

const RECONNECT_MS = 500;
/** For when notifications never arrive, as behind some poolers: frequent retries would not help. */
const RECONNECT_DEAF_MS = 30_000;
/** A connection that breaks silently is detected within twice this time. */
const HEARTBEAT_MS = 3_000;

export interface Listener {
  onNotify(payload: string): void;
  /** Called when notifications arrive again: some may have been missed before. */
  onConnect?(): void;
}

export interface NotificationDeps {
  /** Address of a connection whose session lasts. */
  url: string;
  /** Sends a notification through another connection. */
  notify(channel: string): Promise<unknown>;
  onError(error: Error): void;
}

export class Notifications {
  readonly #listeners = new Map<string, Listener[]>();
  readonly #heartbeatChannel = `ci_insights_heartbeat_${randomUUID().replaceAll('-', '')}`;
  #client: pg.Client | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #onHeartbeat: (() => void) | undefined;
  #isConnected = false;
  #isClosed = false;

  constructor(private readonly deps: NotificationDeps) {}

  /** Whether notifications are arriving. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Registers a listener. Call it before {@link connect}. */
  listen(channel: string, listener: Listener): void {
    this.#listeners.set(channel, [...(this.#listeners.get(channel) ?? []), listener]);
  }

  /** Connects, and reconnects whenever the connection breaks. Returns after the first attempt, even if that failed. */
  async connect(): Promise<void> {
    if (this.#isClosed) return;
    const client = new pg.Client({ connectionString: this.deps.url, application_name: 'ci-insights listener' });
    this.#client = client;
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, new Error('the listening connection ended')));
    client.on('notification', ({ channel, payload }) => {
      if (channel === this.#heartbeatChannel) this.#onHeartbeat?.();
      for (const listener of this.#listeners.get(channel) ?? []) listener.onNotify(payload ?? '');
    });
    try {
      await client.connect();
      for (const channel of [this.#heartbeatChannel, ...this.#listeners.keys()])
        await client.query(`LISTEN ${client.escapeIdentifier(channel)}`);
    } catch (error) {
      return this.#lost(client, error as Error);
    }
    await this.#beat(client);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#isConnected = false;
    clearTimeout(this.#timer);
    this.#onHeartbeat?.();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  /** Sends a heartbeat, waits for it and schedules the next one. */
  async #beat(client: pg.Client): Promise<void> {
    const isReceived = await this.#isHeartbeatReceived().catch(() => false);
    if (this.#client !== client) return;
    if (!isReceived) {
      const wait = this.#isConnected ? RECONNECT_MS : RECONNECT_DEAF_MS;
      return this.#lost(client, new Error('notifications do not arrive; polling for changes instead'), wait);
    }
    if (!this.#isConnected) {
      this.#isConnected = true;
      for (const listener of [...this.#listeners.values()].flat()) listener.onConnect?.();
    }
    this.#timer = setTimeout(() => this.#beat(client), HEARTBEAT_MS);
  }

  async #isHeartbeatReceived(): Promise<boolean> {
    const received = new Promise<void>((resolve) => {
      this.#onHeartbeat = resolve;
    });
    try {
      const sent = this.deps.notify(this.#heartbeatChannel);
      const isReceived = Promise.all([received, sent]).then(() => true);
      return await pTimeout(isReceived, { milliseconds: HEARTBEAT_MS, fallback: () => false });
    } finally {
      this.#onHeartbeat = undefined;
    }
  }

  #lost(client: pg.Client, error: Error, wait = RECONNECT_MS): void {
    if (this.#isClosed || this.#client !== client) return;
    this.#client = undefined;
    this.#isConnected = false;
    clearTimeout(this.#timer);
    this.deps.onError(error);
    client.end().catch(() => {});
    this.#timer = setTimeout(() => this.connect(), wait);
  }
}
