/**
 * A service as an engineer would build it on PostgreSQL alone: every execution and every failure a row, an index for each
 * read, plain SQL. A second embedded server with the settings of the first.
 */
import pg from 'pg';
import { testIdOf } from '../../src/domain/identity.ts';
import type { PreparedChunk } from '../../src/ledger/prepare.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { embeddedFolder } from '../../src/postgres/embedded-folder.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { prepareChunk } from '../support/prepare.ts';
import { type DataOptions, makeJobs } from './data.ts';
import { folderBytes } from './service.ts';

const TABLES = `
create extension pg_trgm;
create table tests (
  repository_id uuid, test_id uuid, name text not null, primary key (repository_id, test_id)
);
create table executions (
  repository_id uuid not null, test_id uuid not null, source_key uuid not null, execution_id bigint not null,
  pipeline_name text not null, job_name text not null, run_id text not null, run_attempt int not null,
  commit text not null, branch text not null, on_default boolean not null, status text not null,
  duration_s real, finished_at timestamptz not null, framework text, framework_version text, language text,
  filepath text, function_name text, job_url text
);
create table failures (
  repository_id uuid not null, test_id uuid not null, failure_id uuid not null, execution_id bigint not null,
  on_default boolean not null, failed_at timestamptz not null, exception_type text not null,
  exception_message text not null, stacktrace text not null
);`;

/** Made when the first rows are there, which is the quickest way. */
const INDEXES = `
create unique index executions_once on executions (source_key, execution_id);
create index executions_test on executions (repository_id, test_id, finished_at) where on_default;
create index executions_conclusion on executions (repository_id, test_id, status, finished_at) where on_default;
create index failures_test on failures (repository_id, test_id, failed_at) where on_default;
create index tests_exact on tests (repository_id, name text_pattern_ops);
create index tests_pattern on tests using gin (name gin_trgm_ops);
analyze;`;

/** One statement for each table and job: rows from arrays, which is the quickest that `pg` can do. */
const INSERT_EXECUTIONS = `
insert into executions
select $1, test_id, $2, execution_id, $3, $4, $5, $6, $7, $8, $9, status, duration_s, to_timestamp(ms / 1000.0), $10, $11,
  $12, filepath, null, $13
from unnest($14::uuid[], $15::bigint[], $16::text[], $17::real[], $18::bigint[], $19::text[])
  as rows (test_id, execution_id, status, duration_s, ms, filepath)
on conflict do nothing`;
const INSERT_FAILURES = `
insert into failures
select $1, test_id, failure_id, execution_id, $2, to_timestamp(ms / 1000.0), type, message, stacktrace
from unnest($3::uuid[], $4::uuid[], $5::bigint[], $6::bigint[], $7::text[], $8::text[], $9::text[])
  as rows (test_id, failure_id, execution_id, ms, type, message, stacktrace)`;
const INSERT_TESTS = `
insert into tests select $1, test_id, name from unnest($2::uuid[], $3::text[]) as rows (test_id, name)
on conflict do nothing`;

const WRITERS = 4;

export class Floor {
  readonly #known = new Set<string>();
  readonly #pool: pg.Pool;

  private constructor(
    readonly folder: string,
    readonly server: EmbeddedPostgres,
    readonly repositoryIds: ReadonlyMap<string, string>,
  ) {
    this.#pool = new pg.Pool({ connectionString: server.url, max: WRITERS });
    this.#pool.on('error', () => {});
  }

  /** @param repositoryIds of the service, by name: its answers name tests by ids that depend on them */
  static async open(folder: string, repositoryIds: ReadonlyMap<string, string>): Promise<Floor> {
    return new Floor(folder, await startEmbeddedPostgres(folder), repositoryIds);
  }

  async close(): Promise<void> {
    await this.#pool.end();
    await this.server.stop();
  }

  async rows(text: string, values: unknown[]): Promise<Record<string, unknown>[]> {
    return (await this.#pool.query(text, values)).rows;
  }

  diskBytes(): number {
    return folderBytes(embeddedFolder(this.folder).path);
  }

  /** Loads the jobs of the source. Returns how many executions a second it takes from `timedFrom` on, with all indexes. */
  async load(source: DataOptions, timedFrom: number): Promise<number> {
    await this.#pool.query(TABLES);
    const jobs = makeJobs(source);
    await this.#insert(take(jobs, timedFrom), source.now);
    await this.#pool.query(INDEXES);
    const started = performance.now();
    await this.#insert(jobs, source.now);
    const seconds = (performance.now() - started) / 1_000;
    // Now, and not at some moment while its reads are measured.
    await this.#pool.query('vacuum analyze');
    return (source.executions - timedFrom * source.chunk) / seconds;
  }

  async #insert(jobs: Iterable<TestRunsJob>, now: number): Promise<void> {
    const next = jobs[Symbol.iterator]();
    await Promise.all(
      Array.from({ length: WRITERS }, async () => {
        for (let job = next.next(); !job.done; job = next.next()) await this.#insertJob(job.value, now);
      }),
    );
  }

  async #insertJob(job: TestRunsJob, now: number): Promise<void> {
    const repositoryId = this.repositoryIds.get(job.repository.name);
    if (repositoryId === undefined) throw new Error(`the service does not know ${job.repository.name}`);
    const chunk = prepareChunk(job, { repositoryId, defaultBranch: 'main', now, retentionDays: 90 });
    if (chunk.isOnDefaultBranch) await this.#insertTests(repositoryId, job.executions.name);
    const { run, isOnDefaultBranch, executions } = chunk;
    await this.#pool.query({
      name: 'executions',
      text: INSERT_EXECUTIONS,
      values: [
        repositoryId,
        executions[0]?.sourceKey,
        run.pipeline_name,
        run.job_name,
        run.run_id,
        run.run_attempt,
        run.commit,
        run.branch,
        isOnDefaultBranch,
        run.framework,
        run.framework_version,
        run.language,
        run.job_url,
        executions.map(({ testId }) => testId),
        executions.map(({ id }) => String(BigInt.asIntN(64, id))),
        executions.map(({ status }) => status),
        executions.map(({ row }) => job.executions.duration_s?.[row]),
        executions.map(({ finishedAt }) => finishedAt),
        executions.map(({ row }) => job.executions.filepath?.[row]),
      ],
    });
    await this.#insertFailures(chunk, job);
  }

  async #insertFailures(
    { repositoryId, isOnDefaultBranch, executions }: PreparedChunk,
    job: TestRunsJob,
  ): Promise<void> {
    const rows = executions.flatMap(({ failures, ...execution }) =>
      failures.map(({ failureId, row }) => ({ ...execution, failureId, failure: row ?? -1 })),
    );
    if (rows.length === 0) return;
    const { type, message, stacktrace } = job.failures;
    await this.#pool.query({
      name: 'failures',
      text: INSERT_FAILURES,
      values: [
        repositoryId,
        isOnDefaultBranch,
        rows.map(({ testId }) => testId),
        rows.map(({ failureId }) => failureId),
        rows.map(({ id }) => String(BigInt.asIntN(64, id))),
        rows.map(({ finishedAt }) => finishedAt),
        rows.map(({ failure }) => type?.[failure] ?? ''),
        rows.map(({ failure }) => message?.[failure] ?? ''),
        rows.map(({ failure }) => stacktrace?.[failure] ?? ''),
      ],
    });
  }

  /** In one order, so that two writers do not wait for each other. */
  async #insertTests(repositoryId: string, names: readonly string[]): Promise<void> {
    const added = [...new Set(names)].filter((name) => !this.#known.has(repositoryId + name)).sort();
    if (added.length === 0) return;
    const ids = added.map((name) => testIdOf(repositoryId, name));
    await this.#pool.query({ name: 'tests', text: INSERT_TESTS, values: [repositoryId, ids, added] });
    for (const name of added) this.#known.add(repositoryId + name);
  }
}

function* take(jobs: Generator<TestRunsJob>, count: number): Generator<TestRunsJob> {
  for (let taken = 0; taken < count; taken++) {
    const job = jobs.next();
    if (job.done) return;
    yield job.value;
  }
}
