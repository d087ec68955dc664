/** Executions of one repository, ingested as a producer would, and the addresses of their insights. */
import { afterAll, beforeAll } from 'bun:test';
import { repositoryIdOf, testIdOf } from '../../src/domain/identity.ts';
import { pullRequests } from '../../src/postgres/schema.ts';
import { TEST_NOW } from './clock.ts';
import type { TestApp } from './http.ts';
import { type IngestDriver, setUpApp } from './ingest.ts';
import { makeJob, type TestExecution, type TestJob } from './jobs.ts';
import { type TestStores, uniqueRepository } from './stores.ts';

export class InsightsFixture {
  readonly repository = uniqueRepository();
  readonly id: string;
  #runs = 0;

  /** One driver at a time: two would evaluate each other's blocks, and neither would know when everything is done. */
  constructor(
    readonly stores: TestStores,
    private readonly driver: IngestDriver,
  ) {
    this.id = repositoryIdOf(this.repository.host, this.repository.owner, this.repository.name);
  }

  /** Another repository, on the same driver. */
  another(): InsightsFixture {
    return new InsightsFixture(this.stores, this.driver);
  }

  /** One run with these executions and a new run id. */
  run(executions: TestExecution[], run: TestJob['run'] = {}): ReturnType<typeof makeJob> {
    const number = ++this.#runs;
    return makeJob({
      repository: this.repository,
      executions,
      run: { run_id: String(number), commit: `commit-${number}`, ...run },
      receivedAt: this.stores.clock.now(),
    });
  }

  /** Returns when everything in the jobs can be read. */
  async ingest(...jobs: ReturnType<typeof makeJob>[]): Promise<void> {
    await this.driver.ingest(...jobs);
  }

  /** Returns when everything that was queued can be read. */
  settle(): Promise<void> {
    return this.driver.settle();
  }

  get base(): string {
    return `/v1/ci/${this.repository.owner}/repositories/${this.repository.name}`;
  }

  search(query: Record<string, string | string[]> = { test_name: '*' }): string {
    return `${this.base}/search/tests?${queryOf(query)}`;
  }

  /** Address below one test, such as `/stats/success_count?start=…`. */
  test(name: string, below = '', query: Record<string, string> = {}): string {
    const search = queryOf(query);
    return `${this.base}/tests/${testIdOf(this.id, name)}${below}${search ? `?${search}` : ''}`;
  }
}

function queryOf(query: Record<string, string | string[]>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, one);
  return search.toString();
}

/** The app and a repository of insights for the tests of a file. */
export interface InsightsSetUp {
  readonly app: TestApp;
  readonly fixture: InsightsFixture;
}

/**
 * In the end, nothing derived may differ from what was stored.
 *
 * @param fill ingests what the tests read
 */
export function setUpInsights(fill: (fixture: InsightsFixture) => Promise<unknown> = async () => {}): InsightsSetUp {
  const set = setUpApp();
  let opened: InsightsFixture | undefined;
  beforeAll(async () => {
    opened = new InsightsFixture(set.stores, set.driver);
    await fill(opened);
  });
  afterAll(() => set.driver.verify());
  return {
    get app() {
      return set.app;
    },
    get fixture() {
      if (!opened) throw new Error('the repository is filled just before the first test of the file');
      return opened;
    },
  };
}

/** The test with a history. */
export const NAME = 'Cart > totals > sums [a, b] with 10% tax';
const HOUR = 3_600_000;
export const at = (hoursAgo: number): number => TEST_NOW - hoursAgo * HOUR;
/** Tests that pass in the same run: beside them, a failure says something about its test, not about the run. */
export const beside = (hoursAgo: number): TestExecution[] =>
  Array.from({ length: 40 }, (_, i) => ({ name: `beside ${i}`, at: at(hoursAgo) }));
export const iso = (moment: number): string => new Date(moment).toISOString();

/** Two days of one test with every status, and a few others, also off the default branch. */
export async function ingestHistory(fixture: InsightsFixture): Promise<void> {
  const failure = { type: 'AssertionError', message: 'expected 3 to equal 4', stacktrace: 'at cart.ts:12' };
  const { run } = fixture;
  const suite = run.bind(fixture);
  const meta = { framework: 'vitest', framework_version: '3.2.4', language: 'javascript', job_url: 'https://ci/1' };
  await fixture.ingest(
    suite([{ name: NAME, at: at(50), durationSeconds: 2 }], { ...meta, commit: 'a1' }),
    suite([{ name: NAME, at: at(40), durationSeconds: 4, status: 'failed', failures: [failure] }], {
      ...meta,
      commit: 'b2',
    }),
    suite(
      [
        {
          name: NAME,
          at: at(30),
          durationSeconds: 3,
          status: 'failed',
          failures: [{ ...failure, message: 'expected 7 to equal 9' }],
        },
      ],
      { commit: 'c3' },
    ),
    suite([{ name: NAME, at: at(5), durationSeconds: 1 }], { ...meta, commit: 'd4' }),
    suite([{ name: NAME, at: at(4), durationSeconds: 9, status: 'skipped' }], {
      ...meta,
      job_name: 'e2e',
      commit: 'd4',
    }),
    // Not on the default branch: in no insight.
    suite([{ name: NAME, at: at(3), status: 'failed', failures: [failure] }], { branch: 'feature' }),
    suite([{ name: NAME, at: at(3), status: 'failed', failures: [failure] }], { base_ref: 'main', pull_request: 7 }),
    suite([{ name: 'only in a pull request', at: at(3) }], { branch: 'feature' }),
    suite([{ name: 'only skipped', at: at(3), status: 'skipped' }]),
    suite([
      { name: 'flaky', at: at(2), isFlaky: true, failures: [{ message: null, type: null }] },
      { name: 'flaky', at: at(1.5), key: 'second' },
    ]),
  );
  await fixture.stores.postgres.db.insert(pullRequests).values([
    {
      repositoryId: fixture.id,
      number: 12,
      id: 9_007_199_254_740_991,
      title: 'Round totals',
      authorId: null,
      authorLogin: null,
      mergeCommit: 'b2',
    },
    {
      repositoryId: fixture.id,
      number: 13,
      id: 5,
      title: 'Another',
      authorId: 1,
      authorLogin: 'ann',
      mergeCommit: 'c3',
    },
  ]);
}
