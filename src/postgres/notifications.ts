/**
 * What PostgreSQL tells by NOTIFY, on a connection of its own: other processes' changes, at once.
 *
 * A notification is never the only way to hear of a change, because one may be missed (while the connection is down, or behind a
 * pooler in transaction mode, where LISTEN does nothing): whoever listens also looks by itself, less often while
 * {@link Notifications.isConnected}. That is true only as long as heartbeats, sent through the ordinary connections, arrive here.
 */
import { randomUUID } from 'node:crypto';
import pTimeout from 'p-timeout';
import pg from 'pg';

const RECONNECT_MS = 500;
/** Notifications do not arrive at all, as behind some poolers: trying again and again would not help. */
const RECONNECT_DEAF_MS = 30_000;
/** A connection that broke without a word is found out within twice this time. */
const HEARTBEAT_MS = 3_000;

export interface Listener {
  onNotify(payload: string): void;
  /** Notifications may have been missed until now. */
  onConnect?(): void;
}

export interface NotificationDeps {
  /** Of a connection whose session lasts. */
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
  #heard: (() => void) | undefined;
  #isConnected = false;
  #isClosed = false;

  constructor(private readonly deps: NotificationDeps) {}

  /** Whether changes are heard of by themselves now. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  /** Registers a listener; before {@link connect}. */
  listen(channel: string, listener: Listener): void {
    this.#listeners.set(channel, [...(this.#listeners.get(channel) ?? []), listener]);
  }

  /** Connects, and again whenever the connection breaks. Returns after the first try, also when it failed. */
  async connect(): Promise<void> {
    if (this.#isClosed) return;
    const client = new pg.Client({ connectionString: this.deps.url, application_name: 'ci-insights listener' });
    this.#client = client;
    client.on('error', (error) => this.#lost(client, error));
    client.on('end', () => this.#lost(client, new Error('the listening connection ended')));
    client.on('notification', ({ channel, payload }) => {
      if (channel === this.#heartbeatChannel) this.#heard?.();
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
    this.#heard?.();
    const client = this.#client;
    this.#client = undefined;
    await client?.end().catch(() => {});
  }

  /** Sends a heartbeat and waits for it; the next one follows by itself. */
  async #beat(client: pg.Client): Promise<void> {
    const isHeard = await this.#hearsItself().catch(() => false);
    if (this.#client !== client) return;
    if (!isHeard) {
      const wait = this.#isConnected ? RECONNECT_MS : RECONNECT_DEAF_MS;
      return this.#lost(client, new Error('notifications do not arrive; changes are looked for instead'), wait);
    }
    if (!this.#isConnected) {
      this.#isConnected = true;
      for (const listener of [...this.#listeners.values()].flat()) listener.onConnect?.();
    }
    this.#timer = setTimeout(() => this.#beat(client), HEARTBEAT_MS);
  }

  async #hearsItself(): Promise<boolean> {
    const heard = new Promise<void>((resolve) => {
      this.#heard = resolve;
    });
    try {
      const sent = this.deps.notify(this.#heartbeatChannel);
      const isHeard = Promise.all([heard, sent]).then(() => true);
      return await pTimeout(isHeard, { milliseconds: HEARTBEAT_MS, fallback: () => false });
    } finally {
      this.#heard = undefined;
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
