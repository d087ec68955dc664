/** The service as it is started, in a separate process, for clients that only have its address and a key. */
import { rmSync } from 'node:fs';
import { atEnd } from '../../support/at-end.ts';
import { makeFolder } from '../../support/folder.ts';
import { until } from '../../support/patience.ts';
import { ROOT, ServiceProcess } from '../../support/service-process.ts';
import { WEBHOOK_SECRET } from '../../support/webhooks.ts';
import { machine } from './run.ts';

export { ROOT };

const POLL_MS = 50;

export class ClientService {
  private constructor(
    readonly dataDir: string,
    private readonly process: ServiceProcess,
  ) {}

  /** Starts it with embedded stores, unless the environment names others. Returns when it is ready. */
  static async start(environment: Record<string, string> = {}): Promise<ClientService> {
    const dataDir = makeFolder('clients');
    const service = ServiceProcess.onFolder(dataDir, { ...machine(), ...environment });
    await service.start();
    return new ClientService(dataDir, service);
  }

  get origin(): string {
    return this.process.origin;
  }

  get token(): string {
    return this.process.adminToken;
  }

  /** The lines that it wrote, including its log from LOG_LEVEL on. */
  get logged(): string[] {
    return this.process.written.split('\n');
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return this.process.request(path, init);
  }

  /** Quarantines a test, on every branch unless a scope says otherwise, and returns the quarantine's id. */
  async quarantine(repository: string, testName: string, scope: object = {}): Promise<string> {
    const response = await this.fetch(`/v1/ci/acme/repositories/${repository}/quarantines`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: testName, reason: 'flaky', ...scope }),
    });
    if (response.status !== 201) throw new Error(`${response.status}: ${await response.text()}`);
    return ((await response.json()) as { id: string }).id;
  }

  async get<T>(path: string): Promise<T> {
    const response = await this.fetch(path);
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Polls until the answer is as expected, and returns it: uploads are stored a moment after they are accepted. */
  async until<T>(path: string, isReached: (answer: T) => boolean): Promise<T> {
    const { answer } = await until(
      async () => {
        const response = await this.fetch(path);
        return { status: response.status, answer: (await response.json()) as T };
      },
      (found) => found.status === 200 && isReached(found.answer),
      POLL_MS,
    );
    return answer;
  }

  async stop(): Promise<void> {
    await this.process.stop();
    rmSync(this.dataDir, { recursive: true, force: true });
  }
}

let shared: Promise<ClientService> | undefined;

/** One service for all client tests of a run; they stay apart by repository. */
export function sharedService(): Promise<ClientService> {
  if (!shared) {
    const started = ClientService.start({
      HOST_WEBHOOK_SECRETS: `github=${WEBHOOK_SECRET}`,
      // Recorded uploads have one date, and this service uses the machine's clock.
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
