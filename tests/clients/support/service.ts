/** The service as it is started, in a process of its own, for clients that only have its address and a key. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { atEnd } from '../../support/at-end.ts';
import { WEBHOOK_SECRET } from '../../support/webhooks.ts';
import { machine } from './run.ts';

export const ROOT = resolve(import.meta.dir, '../../..');
const ANSWER_MS_MAX = 30_000;
const POLL_MS = 50;

export class ClientService {
  /** Lines of its log, from LOG_LEVEL on. */
  readonly logged: string[] = [];

  private constructor(
    readonly origin: string,
    readonly token: string,
    readonly dataDir: string,
    private readonly child: Bun.Subprocess,
  ) {}

  /** Starts it with embedded stores, unless the environment names others. Returns when it says that it is ready. */
  static async start(environment: Record<string, string> = {}): Promise<ClientService> {
    const dataDir = mkdtempSync(join(tmpdir(), 'ci-insights-clients-'));
    const child = Bun.spawn([process.execPath, 'src/cli.ts', 'serve'], {
      cwd: ROOT,
      env: { ...machine(), DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'error', ...environment },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    let printed = '';
    for await (const chunk of child.stdout) {
      printed += new TextDecoder().decode(chunk);
      if (printed.includes('admin key in')) break;
    }
    const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0];
    if (origin === undefined)
      throw new Error(`the service did not start: ${printed}${await new Response(child.stderr).text()}`);
    const token = readFileSync(join(dataDir, 'admin.key'), 'utf8').trim();
    const service = new ClientService(origin, token, dataDir, child);
    void service.#keepLog(child.stderr);
    return service;
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.token}`);
    return fetch(path.startsWith('http') ? path : `${this.origin}${path}`, { ...init, headers });
  }

  /** Quarantines a test on every branch and returns the quarantine's id. */
  async quarantine(repository: string, testName: string): Promise<string> {
    const response = await this.fetch(`/v1/ci/acme/repositories/${repository}/quarantines`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: testName, reason: 'flaky' }),
    });
    if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  }

  async get<T>(path: string): Promise<T> {
    const response = await this.fetch(path);
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Asks again until the answer is as expected, and returns it: uploads are stored a moment after they are taken. */
  async until<T>(path: string, isReached: (answer: T) => boolean): Promise<T> {
    const deadline = Date.now() + ANSWER_MS_MAX;
    for (;;) {
      const response = await this.fetch(path);
      const answer = (await response.json()) as T;
      if (response.status === 200 && isReached(answer)) return answer;
      if (Date.now() > deadline)
        throw new Error(`${path} stays at ${response.status} ${JSON.stringify(answer).slice(0, 1_000)}`);
      await Bun.sleep(POLL_MS);
    }
  }

  async #keepLog(stderr: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of stderr) {
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      this.logged.push(...lines);
    }
  }

  async stop(): Promise<void> {
    this.child.kill('SIGTERM');
    await this.child.exited;
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

let shared: Promise<ClientService> | undefined;

/** One service for all client tests of a run; they keep apart by repository. */
export function sharedService(): Promise<ClientService> {
  if (!shared) {
    const started = ClientService.start({
      GITHUB_WEBHOOK_SECRET: WEBHOOK_SECRET,
      // Recorded uploads are of one day, and this service has the clock of the machine.
      RETENTION_DAYS: '3650',
    });
    atEnd(async () => (await started).stop());
    shared = started;
  }
  return shared;
}

let repositories = 0;

/** A repository of `acme` that no other test of the run uses. */
export const freshRepository = (client: string): string => `${client}-${++repositories}`;
