/** Makes `test-runs` jobs for tests: as a producer would, with what matters to the test and customary values otherwise. */
import { v7 as uuid7 } from 'uuid';
import type { Status } from '../../src/domain/status.ts';
import { type Run, type TestRunsJob, testRunsSchema } from '../../src/queue/test-runs.ts';

export interface TestExecution {
  name: string;
  status?: Status;
  /** Names it within its source; by default its place in the job. */
  key?: string;
  /** Milliseconds since the epoch. */
  at?: number | null;
  durationSeconds?: number;
  isFlaky?: boolean;
  isRetried?: boolean;
  failures?: { type?: string | null; message?: string | null; stacktrace?: string | null; attempt?: number }[];
}

export interface TestJob {
  repository: { host?: string; owner: string; name: string };
  executions: TestExecution[];
  run?: Partial<Run>;
  source?: string;
  receivedAt: number;
  uploadId?: string;
}

export function makeJob({
  repository,
  executions,
  run = {},
  source,
  receivedAt,
  uploadId = uuid7(),
}: TestJob): TestRunsJob {
  const failures = executions.flatMap((execution, index) =>
    (execution.failures ?? []).map((failure, i) => ({ index, attempt: i + 1, ...failure })),
  );
  return testRunsSchema.parse({
    v: 1,
    upload_id: uploadId,
    received_at: new Date(receivedAt).toISOString(),
    repository,
    run: { pipeline_name: 'CI', job_name: 'unit', run_id: '1', branch: 'main', commit: 'c1', ...run },
    sources: [source ?? uploadId],
    executions: {
      source: executions.map(() => 0),
      key: executions.map((execution, i) => execution.key ?? String(i)),
      name: executions.map((execution) => execution.name),
      status: executions.map((execution) => execution.status ?? 'passed'),
      duration_s: executions.map((execution) => execution.durationSeconds ?? 0.1),
      finished_at_ms: executions.map((execution) => (execution.at === undefined ? receivedAt : execution.at)),
      filepath: executions.map(() => null),
      function: executions.map(() => null),
      is_flaky: executions.map((execution) => execution.isFlaky ?? false),
      is_quarantined: executions.map(() => false),
      is_retried: executions.map((execution) => execution.isRetried ?? false),
    },
    failures: {
      execution: failures.map(({ index }) => index),
      attempt: failures.map(({ attempt }) => attempt),
      type: failures.map(({ type }) => type ?? null),
      message: failures.map(({ message }) => message ?? null),
      stacktrace: failures.map(({ stacktrace }) => stacktrace ?? null),
    },
  });
}
