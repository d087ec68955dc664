/** Makes `test-runs` jobs as a producer would, with usual values for what does not matter to the test. */
import { v7 as uuid7 } from 'uuid';
import type { Attachment } from '../../src/domain/attachments.ts';
import type { Run } from '../../src/domain/columns.ts';
import { executionColumns, failureColumns } from '../../src/domain/columns.ts';
import type { Status } from '../../src/domain/status.ts';
import { type TestRunsJob, testRunsSchema } from '../../src/queue/test-runs.ts';

export interface TestExecution {
  name: string;
  status?: Status;
  /** Names it within its source; by default its place in the job. */
  key?: string;
  /** Milliseconds since the epoch. */
  at?: number | null;
  durationSeconds?: number;
  filepath?: string;
  function?: string;
  isFlaky?: boolean;
  isRetried?: boolean;
  failures?: {
    type?: string | null;
    message?: string | null;
    stacktrace?: string | null;
    attempt?: number;
    attachments?: Attachment[];
  }[];
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
  const failures = executions.flatMap(({ failures = [] }, index) =>
    failures.map((failure, i) => ({
      index,
      row: { attempt: i + 1, type: null, message: null, stacktrace: null, ...failure },
    })),
  );
  const rows = executions.map((execution, i) => ({
    key: execution.key ?? String(i),
    name: execution.name,
    status: execution.status ?? 'passed',
    durationSeconds: execution.durationSeconds ?? 0.1,
    finishedAtMs: execution.at === undefined ? receivedAt : execution.at,
    filepath: execution.filepath ?? null,
    function: execution.function ?? null,
    isFlaky: execution.isFlaky ?? false,
    isQuarantined: false,
    isRetried: execution.isRetried ?? false,
  }));
  return testRunsSchema.parse({
    v: 1,
    upload_id: uploadId,
    received_at: new Date(receivedAt).toISOString(),
    repository,
    run: { pipeline_name: 'CI', job_name: 'unit', run_id: '1', branch: 'main', commit: 'c1', ...run },
    sources: [source ?? uploadId],
    executions: { source: executions.map(() => 0), ...executionColumns.arrays(rows) },
    failures: {
      execution: failures.map(({ index }) => index),
      ...failureColumns.arrays(failures.map(({ row }) => row)),
    },
  });
}
