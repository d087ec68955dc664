/** Executions of one repository, brought in as a producer would, and the addresses of their insights. */
import { repositoryIdOf, testIdOf } from '../../src/domain/identity.ts';
import { IngestDriver } from './ingest.ts';
import { makeJob, type TestExecution, type TestJob } from './jobs.ts';
import { type TestStores, uniqueRepository } from './stores.ts';

export class InsightsFixture {
  readonly repository = uniqueRepository();
  readonly id: string;
  readonly #driver: IngestDriver;
  #runs = 0;

  constructor(private readonly stores: TestStores) {
    this.#driver = new IngestDriver(stores);
    this.id = repositoryIdOf(this.repository.host, this.repository.owner, this.repository.name);
  }

  /** One run with these executions; of its own run id, so that none is taken for another. */
  run(executions: TestExecution[], run: TestJob['run'] = {}): ReturnType<typeof makeJob> {
    const number = ++this.#runs;
    return makeJob({
      repository: this.repository,
      executions,
      run: { run_id: String(number), commit: `commit-${number}`, ...run },
      receivedAt: this.stores.clock.now(),
    });
  }

  /** Returns when all of it can be read. */
  async ingest(...jobs: ReturnType<typeof makeJob>[]): Promise<void> {
    await this.#driver.ingest(...jobs);
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

  /** Nothing derived may differ from what was stored. */
  async close(): Promise<void> {
    await this.#driver.verify();
    await this.#driver.stop();
  }
}

export function queryOf(query: Record<string, string | string[]>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of Array.isArray(value) ? value : [value]) search.append(name, one);
  return search.toString();
}
