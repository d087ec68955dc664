/**
 * A service whose power is cut, or that is killed, again and again while CI jobs upload and people quarantine. What was
 * answered must be there after each cut, once.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE_MS, soon, TooLate } from './patience.ts';
import type { Place } from './power.ts';
import { randomFrom } from './random.ts';
import { runCommand, ServiceProcess } from './service-process.ts';

const SHOP = '/v1/ci/acme/repositories/shop';
const UPLOADERS = 6;
/** Who sends everything again, to count. */
const SENDERS = 8;
const ATTEMPTS_MAX = 20;
const STOPS_MAX = 3;
/** A test of the load between these; half of its tests ran a month ago, so that every insert goes to two partitions. */
const TESTS = [100, 1_900] as const;
const NAMES = 2_000;
/** Between the names of a report; has no divisor with their number. */
const STRIDE = 7;
const MONTH_MS = 31 * 86_400_000;
/** One cut in six comes while the service starts. The others come once it has stored enough, or after this time. */
const DURING_START = 1 / 6;
const STARTING_MS_MAX = 2_500;
const WORKING_MS_MAX = 20_000;
/** Then at a random point of whatever it does. */
const FURTHER_MS_MAX = 500;
/** Share of what is known to be stored that is sent again to count; the last time, all is. */
const SENT_AGAIN = 1 / 10;

export interface Options {
  /** Where its data is, and what a cut does to it. */
  place: Place;
  seed: number;
  /** Executions that are stored between two cuts, on average. */
  executionsPerRound: number;
  environment?: Readonly<Record<string, string>>;
}

interface Upload {
  run: number;
  tests: number;
  receipt?: string;
  isStored: boolean;
}

/** An answer that was false, as opposed to one that a cut took. So is one that never came from a service that runs. */
class Wrong extends Error {}
const isWrong = (error: unknown): error is Error => error instanceof Wrong || error instanceof TooLate;

export class InterruptedService {
  readonly #random: () => number;
  readonly #place: Place;
  readonly #dataDir: string;
  readonly #service: ServiceProcess;
  readonly #uploads: Upload[] = [];
  /** Names of the tests whose quarantine was answered, and of those that may have been made. */
  readonly #quarantined = new Set<string>();
  readonly #tried = new Set<string>();
  readonly #startedAt = Date.now();
  /** Ends the requests that a cut has left without an answer. */
  #cut = new AbortController();
  cuts = 0;
  /** Answers that must not be. */
  readonly wrong: string[] = [];

  constructor(private readonly options: Options) {
    this.#random = randomFrom(options.seed);
    this.#place = options.place;
    this.#dataDir = join(this.#place.path, 'data');
    this.#service = ServiceProcess.onFolder(this.#dataDir, options.environment);
    this.#place.on();
  }

  /** Executions that are stored by what their receipts say. */
  get executions(): number {
    return this.#uploads.reduce((sum, { tests, isStored }) => sum + (isStored ? tests : 0), 0);
  }

  get quarantines(): number {
    return this.#quarantined.size;
  }

  /** Starts on what the last cut left, works for a while, and is cut off. */
  async round(): Promise<void> {
    const stopWriteBack = this.#place.writeBack(this.#random);
    let work: Promise<unknown> = Promise.resolve();
    if (this.#random() < DURING_START) {
      work = this.#service.start().catch(() => {});
      await Bun.sleep(STARTING_MS_MAX * this.#random());
    } else {
      await this.#start();
      const enough = this.executions + 2 * this.options.executionsPerRound * this.#random();
      work = this.#work();
      const until = performance.now() + WORKING_MS_MAX;
      while (this.executions < enough && performance.now() < until) await Bun.sleep(20);
      await Bun.sleep(FURTHER_MS_MAX * this.#random());
    }
    const postgres = this.#postgres();
    this.#place.cut();
    this.cuts++;
    await this.#end(this.#place.takesAll || this.#random() < 1 / 2 ? postgres : undefined);
    this.#cut.abort();
    this.#cut = new AbortController();
    await soon('end of what was begun before the cut', Promise.all([work, stopWriteBack()]));
    await this.#place.off();
    this.#place.on();
  }

  /** Sends what is not stored until it is; then counts all. Leaves the service stopped. */
  async settle({ isLast = false } = {}): Promise<{ verified: string; events: Map<string, number> }> {
    await this.#start();
    const left = this.#uploads.filter(({ isStored }) => !isStored || isLast || this.#random() < SENT_AGAIN);
    const sending = Array.from({ length: SENDERS }, async () => {
      for (let upload = left.pop(); upload; upload = left.pop()) await this.#storeAtLast(upload);
    });
    await Promise.all(sending);
    const events = await this.#events();
    await this.#stop();
    return { verified: runCommand(this.#dataDir, 'verify').out, events };
  }

  /** On a slow machine, work in progress may take longer than a stop waits for it: the next start finishes it. */
  async #stop(): Promise<void> {
    for (let tries = 1; ; tries++) {
      const code = await soon('stop', this.#service.stop());
      if (code === 0) return;
      if (tries === STOPS_MAX || !this.#service.written.includes('in-flight work did not finish in time'))
        throw new Error(`the service ended with ${code}: ${this.#service.written}`);
      await this.#start();
    }
  }

  /** Quarantines whose events are missing or there twice, by name. */
  wronglyTold(events: ReadonlyMap<string, number>): string[] {
    return [
      ...[...this.#quarantined].filter((name) => events.get(name) !== 1),
      ...[...events].flatMap(([name, count]) => (count > 1 || !this.#tried.has(name) ? [name] : [])),
    ];
  }

  async close(): Promise<void> {
    await this.#end(this.#postgres());
    this.#place.remove();
  }

  async #start(): Promise<void> {
    try {
      await soon('start', this.#service.start());
    } catch (error) {
      if (isWrong(error)) error.message += `; the service wrote: ${this.#service.written}`;
      throw error;
    }
  }

  #request(path: string, init: RequestInit = {}): Promise<Response> {
    return soon(`answer to ${path}`, this.#service.request(path, { ...init, signal: this.#cut.signal }));
  }

  /** Returns when everybody has met the end of the service. */
  async #work(): Promise<void> {
    const left = this.#uploads.filter(({ isStored }) => !isStored);
    const uploaders = Array.from({ length: UPLOADERS }, async () => {
      for (;;) await this.#store(left.pop() ?? this.#newUpload());
    });
    const person = (async () => {
      for (;;) await this.#quarantine();
    })();
    // Cut off before it was answered: what became of it, the next start must tell.
    await Promise.all([...uploaders, person].map((one) => one.catch((error) => this.#unlessCut(error))));
  }

  #unlessCut(error: unknown): void {
    if (isWrong(error)) this.wrong.push(error.message);
  }

  async #end(postgres: number | undefined): Promise<void> {
    await soon('end of a killed service', this.#service.kill());
    if (postgres !== undefined)
      try {
        process.kill(postgres, 'SIGKILL');
      } catch {
        // PostgreSQL has ended already, because its files could not be written.
      }
  }

  /** The server that a killed service leaves behind. Nothing can be read any more when the power is off. */
  #postgres(): number | undefined {
    try {
      const pid = Number(readFileSync(join(this.#dataDir, 'postgres/postmaster.pid'), 'utf8').split('\n')[0]);
      return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres') ? pid : undefined;
    } catch {
      return undefined;
    }
  }

  #newUpload(): Upload {
    const [least, most] = TESTS;
    const upload = {
      run: this.#uploads.length,
      tests: least + Math.floor((most - least) * this.#random()),
      isStored: false,
    };
    this.#uploads.push(upload);
    return upload;
  }

  /** Tries again, as clients do: a busy service may answer 503. */
  async #storeAtLast(upload: Upload): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.#store(upload);
      } catch (error) {
        if (isWrong(error) || attempt === ATTEMPTS_MAX) throw error;
        await Bun.sleep(1_000);
      }
  }

  /** Sends a report, the same bytes every time, and waits for its receipt. A receipt that was there must stay. */
  async #store(upload: Upload): Promise<void> {
    const wasStored = upload.isStored;
    const query = `pipeline_name=CI&job_name=unit&run_id=${upload.run}&branch=main&commit=c${upload.run}`;
    if (upload.receipt !== undefined && wasStored) {
      const { status } = await this.#receipt(upload.receipt);
      if (status !== 'stored') throw new Wrong(`the receipt of run ${upload.run} is ${status}, it was stored`);
    }
    const sent = await this.#request(`${SHOP}/junit?${query}`, { method: 'POST', body: this.#report(upload) });
    if (sent.status !== 202) throw new Error(`an upload was answered with ${sent.status}: ${await sent.text()}`);
    const { id } = (await sent.json()) as { id: string };
    for (const until = performance.now() + PATIENCE_MS; ; ) {
      const receipt = await this.#receipt(id);
      if (receipt.status === 'failed') throw new Wrong(`an upload failed: ${JSON.stringify(receipt)}`);
      if (receipt.status === 'stored') {
        if (wasStored && receipt.duplicate !== upload.tests)
          throw new Wrong(`run ${upload.run} was stored and is not known: ${JSON.stringify(receipt)}`);
        upload.receipt = id;
        upload.isStored = true;
        return;
      }
      if (performance.now() > until) throw new Wrong(`an upload is not stored: ${JSON.stringify(receipt)}`);
      await Bun.sleep(20);
    }
  }

  async #receipt(id: string): Promise<{ status: string; accepted: number; duplicate: number }> {
    const response = await this.#request(`${SHOP}/uploads/${id}`);
    if (response.status !== 200)
      throw new Error(`a receipt was answered with ${response.status}: ${await response.text()}`);
    return (await response.json()) as { status: string; accepted: number; duplicate: number };
  }

  #report({ run, tests }: Upload): string {
    const random = randomFrom(run);
    const first = Math.floor(NAMES * random());
    const cases = Array.from({ length: tests }, (_, i) => {
      const outcome = random() < 0.03 ? `<failure type="E">expected ${i % 7}</failure>` : '';
      // Each once: tests of one name in a suite would be one execution if one of them fails.
      return `<testcase name="test ${(first + STRIDE * i) % NAMES}" time="0.1">${outcome}</testcase>`;
    });
    const suite = (at: number, inside: readonly string[]): string =>
      `<testsuite name="s" timestamp="${new Date(at).toISOString()}">${inside.join('')}</testsuite>`;
    const half = Math.floor(tests / 2);
    return `<testsuites>${suite(this.#startedAt, cases.slice(half))}${suite(this.#startedAt - MONTH_MS, cases.slice(0, half))}</testsuites>`;
  }

  async #quarantine(): Promise<void> {
    const name = `quarantined ${this.#tried.size}`;
    this.#tried.add(name);
    const response = await this.#request(`${SHOP}/quarantines`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ test_name: name, reason: '' }),
    });
    if (response.status === 201) this.#quarantined.add(name);
    await Bun.sleep(30);
  }

  /** How often each quarantine is in the log, which is read until nothing is added. */
  async #events(): Promise<Map<string, number>> {
    let events = new Map<string, number>();
    for (let still = 0; still < 3; await Bun.sleep(400)) {
      const next = await this.#readLog();
      const count = (of: ReadonlyMap<string, number>): number => [...of.values()].reduce((sum, one) => sum + one, 0);
      still = count(next) === count(events) ? still + 1 : 0;
      events = next;
    }
    return events;
  }

  async #readLog(): Promise<Map<string, number>> {
    const events = new Map<string, number>();
    for (let url: string | undefined = '/v1/repos/acme/shop/logs?per_page=100'; url !== undefined; ) {
      const response = await this.#request(url);
      const { events: page } = (await response.json()) as { events: { metadata: { test_name: string } }[] };
      for (const { metadata } of page) events.set(metadata.test_name, (events.get(metadata.test_name) ?? 0) + 1);
      const next: string | undefined = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1];
      url = next?.slice(new URL(next).origin.length);
    }
    return events;
  }
}
