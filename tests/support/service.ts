/** The service as it is started: a process of its own on embedded stores, that a test may also kill. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dir, '../..');

export class ServiceProcess {
  readonly dataDir = mkdtempSync(join(tmpdir(), 'ci-insights-service-'));
  #process: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | undefined;
  #origin = '';

  constructor(private readonly environment: Record<string, string> = {}) {}

  get origin(): string {
    return this.#origin;
  }

  /** The key that the first start made. */
  get adminToken(): string {
    return readFileSync(join(this.dataDir, 'admin.key'), 'utf8').trim();
  }

  /** Returns when it says that it is ready. */
  async start(): Promise<void> {
    const { PATH, HOME } = process.env;
    const service = Bun.spawn([process.execPath, 'src/cli.ts', 'serve'], {
      cwd: ROOT,
      env: { PATH, HOME, DATA_DIR: this.dataDir, PORT: '0', LOG_LEVEL: 'error', ...this.environment },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#process = service;
    const logged = new Response(service.stderr).text();
    const reader = service.stdout.getReader();
    let printed = '';
    while (!printed.includes('\n')) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the service ended: ${printed}${await logged}`);
      printed += new TextDecoder().decode(value);
    }
    reader.releaseLock();
    this.#origin = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0] ?? '';
  }

  /** Ends it without a word, as a crash does. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL');
    await this.#process?.exited;
  }

  async stop(): Promise<void> {
    this.#process?.kill('SIGTERM');
    await this.#process?.exited;
    rmSync(this.dataDir, { recursive: true, force: true });
  }

  /** Sends a request with the admin key. */
  request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.adminToken}`);
    return fetch(`${this.origin}${path}`, { ...init, headers });
  }
}
