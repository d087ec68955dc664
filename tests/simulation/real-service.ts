/**
 * A real history through a service: every run is an upload, which goes through queue, worker and evaluation, and verdicts
 * are what its REST API answers.
 */
import { rmSync } from 'node:fs';
import { z } from 'zod';
import { HEALTHS, type Health } from '../../src/domain/status.ts';
import { type VerifyReportDocument, verifyReportSchema } from '../../src/domain/verify-report.ts';
import { BenchService } from '../bench/service.ts';
import { atEnd } from '../support/at-end.ts';
import { makeFolder } from '../support/folder.ts';
import { otlpProtobuf } from '../support/otlp.ts';
import type { Run } from './history.ts';
import { countGroups, type Groups } from './real-groups.ts';
import { type Day, daysOf, type RealHistory } from './real-history.ts';
import { afterEach, type NotHealthy, untilAsked, type Verdicts } from './real-verdicts.ts';

const PIPELINE = 'CI';
const REPOSITORY = '/v1/ci/acme/repositories/history';
/** The history is years old. */
const RETENTION_DAYS = '36500';
const AT_ONCE = 8;
const POLL_MS = 200;
/** On a busy machine. */
const ATTEMPTS_MAX = 20;

const testsPage = z.object({
  tests: z.array(
    z.object({
      test_id: z.string(),
      test_name: z.string(),
      job_name: z.string(),
      metrics: z.object({ health_status: z.enum(HEALTHS) }),
    }),
  ),
});
type ListedTest = z.infer<typeof testsPage>['tests'][number];
const failuresSchema = z.object({ failures: z.array(z.object({ failure_count: z.int() })) });
const uploadsPage = z.object({
  uploads: z.array(
    z.object({ id: z.string(), status: z.string(), accepted: z.int().nullable(), duplicate: z.int().nullable() }),
  ),
});
const verificationSchema = z.object({
  id: z.string(),
  status: z.enum(['running', 'finished', 'failed']),
  report: verifyReportSchema.nullable(),
});

/** Starts a service on a new folder. It ends with `act`, and its folder goes. */
export async function withService<T>(act: (service: BenchService) => Promise<T>): Promise<T> {
  const folder = makeFolder('replay');
  const service = new BenchService(folder, { RETENTION_DAYS });
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ended ??= service.stop().finally(() => rmSync(folder, { recursive: true, force: true }));
    return ended;
  };
  atEnd(end);
  try {
    await service.start();
    return await act(service);
  } finally {
    await end();
  }
}

export class HistoryInService {
  /** By CI job and test. */
  readonly #identities: ReadonlyMap<string, number>;

  constructor(
    private readonly service: BenchService,
    private readonly history: RealHistory,
  ) {
    this.#identities = new Map(history.identities.map(({ test, suite }, i) => [nameOf(suite, test), i]));
  }

  /**
   * Sends everything, in order of time, and asks for verdicts on the way.
   *
   * @param onDay called at the end of each day
   */
  async play(onDay: (day: Day) => void = () => {}): Promise<Verdicts> {
    const verdicts: Verdicts = { name: 'the service', afterRun: [], atEndOfDay: new Map() };
    let sent = 0;
    let notHealthy: NotHealthy = new Map();
    const everFailed = new Set<number>();
    for (const day of daysOf(this.history)) {
      for (let next = 0; next < day.runs.length; ) {
        const together = untilAsked(day.runs, next, everFailed);
        await this.#store(together, sent);
        notHealthy = await this.#readNotHealthy();
        verdicts.afterRun.push(...afterEach(together, notHealthy));
        next += together.length;
        sent += together.length;
      }
      verdicts.atEndOfDay.set(day.day, notHealthy);
      onDay(day);
    }
    return verdicts;
  }

  /** Groups of all tests. */
  async readGroups(): Promise<Groups> {
    const tests = await this.#readTests('');
    if (tests.length !== this.#ran().size)
      throw new Error(`${this.#ran().size} identities ran, ${tests.length} are listed`);
    const failures: number[] = [];
    await each([...new Set(tests.map(({ test_id }) => test_id))], async (testId) => {
      const answer = await this.#read(`${REPOSITORY}/tests/${testId}/failures`);
      failures.push(...failuresSchema.parse(answer.body).failures.map(({ failure_count }) => failure_count));
    });
    return countGroups(failures);
  }

  /** Has everything derived compared with the executions. Returns what differs, in words. */
  async verify(): Promise<string[]> {
    const asked = await this.#ask('/v1/verifications', { method: 'POST' });
    const { id } = verificationSchema.parse(await asked.json());
    for (;;) {
      const { status, report } = verificationSchema.parse((await this.#read(`/v1/verifications/${id}`)).body);
      if (status === 'failed') throw new Error('the service could not compare what it derived with the executions');
      if (report) return wrongIn(report);
      await Bun.sleep(POLL_MS);
    }
  }

  #ran(): Set<number> {
    const ran = new Set<number>();
    for (const { identities } of this.history.runs)
      for (let i = 0; i < identities.length; i++) ran.add(identities[i] as number);
    return ran;
  }

  /** Returns when the runs are stored as a whole, and evaluated. */
  async #store(runs: readonly Run[], sentBefore: number): Promise<void> {
    const waiting = new Map<string, Run>();
    await each([...runs.entries()], async ([i, run]) => {
      waiting.set(await this.#upload(run, sentBefore + i + 1), run);
    });
    await this.service.untilJudged();
    for (let path: string | undefined = `${REPOSITORY}/uploads?per_page=100`; path && waiting.size > 0; ) {
      const { body, next } = await this.#read(path);
      for (const { id, status, ...counts } of uploadsPage.parse(body).uploads) {
        const run = waiting.get(id);
        if (!run) continue;
        waiting.delete(id);
        // On a busy machine, an upload may be stored although its answer was lost. Then the next attempt has duplicates.
        const counted = (counts.accepted ?? 0) + (counts.duplicate ?? 0);
        if (status !== 'stored' || counted !== run.identities.length)
          throw new Error(`run ${run.id} has ${run.identities.length} executions, ${counted} are ${status}`);
      }
      path = next;
    }
    if (waiting.size > 0) throw new Error(`${waiting.size} uploads have no receipt`);
  }

  /** Returns the id of the upload. */
  async #upload(run: Run, number: number): Promise<string> {
    const body = otlpProtobuf({
      resource: {
        'cicd.pipeline.name': PIPELINE,
        'cicd.pipeline.task.name': this.#suiteOf(run),
        'cicd.pipeline.run.id': run.id,
        'cicd.pipeline.run.attempt': run.attempt,
        'vcs.ref.head.name': 'main',
        'vcs.ref.head.revision': run.commit,
      },
      spans: Array.from(run.identities, (identity) => {
        const trouble = run.troubles.get(identity);
        const at = BigInt(run.at) * 1_000_000n;
        return {
          name: this.history.identities[identity]?.test ?? '',
          traceId: number.toString(16).padStart(32, '0'),
          startNs: at,
          endNs: at,
          status: trouble ? 'error' : 'ok',
          ...(trouble && { exceptionEvent: { 'exception.message': trouble.message } }),
        };
      }),
    });
    const response = await this.#ask(`${REPOSITORY}/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body,
    });
    await response.arrayBuffer();
    const id = response.headers.get('x-upload-id');
    if (id === null) throw new Error(`run ${run.id} has nothing that the service takes`);
    return id;
  }

  #suiteOf(run: Run): string {
    return this.history.identities[run.identities[0] ?? 0]?.suite ?? '';
  }

  /** Everything else is healthy. */
  async #readNotHealthy(): Promise<NotHealthy> {
    const tests = await this.#readTests('&health_status=flaky&health_status=broken');
    return new Map(
      tests.map(({ job_name, test_name, metrics }): [number, Health] => {
        const identity = this.#identities.get(nameOf(job_name, test_name));
        if (identity === undefined) throw new Error(`nothing was sent of ${test_name} in ${job_name}`);
        return [identity, metrics.health_status];
      }),
    );
  }

  async #readTests(filter: string): Promise<ListedTest[]> {
    const tests: ListedTest[] = [];
    for (let path: string | undefined = `${REPOSITORY}/search/tests?per_page=100${filter}`; path; ) {
      const { body, next } = await this.#read(path);
      tests.push(...testsPage.parse(body).tests);
      path = next;
    }
    return tests;
  }

  /** @returns next: the address of the next page, if there is one */
  async #read(path: string): Promise<{ body: unknown; next: string | undefined }> {
    const response = await this.#ask(path);
    return { body: await response.json(), next: /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1] };
  }

  /** Asks again for as long as the service has no room. */
  async #ask(path: string, init?: RequestInit): Promise<Response> {
    for (let attempts = 1; ; attempts++) {
      const response = await this.service.request(path, init);
      if (response.ok) return response;
      const text = await response.text();
      if (response.status !== 503 || attempts === ATTEMPTS_MAX)
        throw new Error(`${path} was answered ${response.status}: ${text}`);
      await Bun.sleep(Number(response.headers.get('retry-after') ?? 1) * 1_000);
    }
  }
}

function wrongIn({ checks, is_complete }: VerifyReportDocument): string[] {
  const wrong = checks.filter(({ count }) => count > 0);
  const differences = wrong.map(({ name, count, differences: [first] }) => `${name}: ${count}, such as ${first}`);
  return is_complete ? differences : [...differences, 'not exactly what counts as stored is stored'];
}

const nameOf = (suite: string, test: string): string => `${suite}\0${test}`;

/** A few at a time. */
async function each<Item>(items: readonly Item[], act: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async (): Promise<void> => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await act(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}
