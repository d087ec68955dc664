/** From the bytes of an upload to jobs that are ready for the queue: everything that costs time and memory. */
import { DEFAULT_HOST } from '../../domain/identity.ts';
import { InvalidUpload, UploadTooLarge } from '../../formats/errors.ts';
import { FORMATS } from '../../formats/formats.ts';
import { TimeSlice } from '../../formats/time-slice.ts';
import type { ParsedUpload } from '../../formats/upload.ts';
import { isLarge } from '../../queue/large-test-runs.ts';
import { type PackedJob, type PlainJob, packPlain } from '../../queue/packed-job.ts';
import { type TestRunsJob, testRuns } from '../../queue/test-runs.ts';
import { unpackBody } from '../body.ts';
import { NotPermitted, withinBounds } from '../bounds.ts';
import { chunksOf } from '../chunks.ts';
import { parseOtlp } from '../otlp/map.ts';
import { reportFiles } from '../reports/files.ts';
import { parseReports } from '../reports/parse.ts';
import type { ParseResult, ParseTask } from './task.ts';

/** Parses in this process. Throws only what is a fault of ours. */
export async function parseUpload(task: ParseTask, body: Uint8Array): Promise<ParseResult> {
  try {
    const upload = withinBounds(await read(task, await unpackBody(body, task.isGzip, task.limits)), task.bounds);
    const { uploadId, repository, receivedAt, sender, input } = task;
    const arrivedAt = arrivedAtOf(input);
    if (arrivedAt !== undefined) checkArrival(arrivedAt, task);
    const head = {
      uploadId,
      repository: { host: DEFAULT_HOST, ...repository },
      receivedAt: new Date(receivedAt),
      arrivedAt: arrivedAt === undefined ? null : new Date(arrivedAt),
      format: input.kind === 'report' ? input.format : input.kind,
      sender,
    };
    return {
      outcome: 'parsed',
      executions: upload.runs.reduce((sum, run) => sum + run.executions.length, 0),
      rejections: upload.rejections,
      warnings: upload.warnings,
      isCutShort: upload.isCutShort === true,
      ...(await jobsOf(chunksOf(upload, head))),
    };
  } catch (error) {
    if (error instanceof UploadTooLarge) return { outcome: 'refused', why: 'too large', sentence: error.message };
    if (error instanceof InvalidUpload) return { outcome: 'refused', why: 'invalid', sentence: error.message };
    if (error instanceof NotPermitted) return { outcome: 'refused', why: 'not permitted', sentence: error.message };
    throw error;
  }
}

/** When imported results would have arrived; undefined for what is live. */
export const arrivedAtOf = (input: ParseTask['input']): number | undefined =>
  input.kind === 'report' ? input.query.arrived_at : undefined;

/** Throws {@link NotPermitted} and InvalidUpload. */
function checkArrival(arrivedAt: number, { bounds, receivedAt }: ParseTask): void {
  if (bounds)
    throw new NotPermitted('This credential is for one job, which imports nothing: import with an application key.');
  if (arrivedAt > receivedAt)
    throw new InvalidUpload('arrived_at is in the future: only results of the past are imported.');
}

/** A job of more characters shares none. */
const SMALL_LENGTH_MAX = 64 * 1024;
/** Without making text of it: a chunk of so many executions is not small. */
const SMALL_EXECUTIONS_MAX = 400;

type Jobs = Pick<Extract<ParseResult, { outcome: 'parsed' }>, 'jobs' | 'isLarge' | 'small'>;

async function jobsOf(chunks: readonly TestRunsJob[]): Promise<Jobs> {
  const [only] = chunks;
  if (only && chunks.length === 1 && only.executions.name.length <= SMALL_EXECUTIONS_MAX) {
    const small = plainJob(only);
    if (small.json.length <= SMALL_LENGTH_MAX) return { jobs: [], isLarge: false, small };
  }
  let length = 0;
  const jobs: PackedJob[] = [];
  const slice = new TimeSlice();
  for (const chunk of chunks) {
    const job = plainJob(chunk);
    length += job.json.length;
    jobs.push(packPlain(job));
    if (slice.isUsedUp()) await slice.yieldToOthers();
  }
  return { jobs, isLarge: isLarge(length) };
}

const plainJob = (job: TestRunsJob): PlainJob => ({ id: testRuns.id(job), json: JSON.stringify(job) });

async function read({ input, limits, executionsMax }: ParseTask, body: Uint8Array): Promise<ParsedUpload> {
  if (input.kind === 'otlp')
    return parseOtlp(body, input.encoding, executionsMax === undefined ? {} : { executionsMax });
  const format = FORMATS.find(({ name }) => name === input.format);
  if (!format) throw new Error(`${input.format} is not in the list of formats`);
  const files = await reportFiles(body, input.contentType, limits, format);
  return parseReports(format, files, input.query, executionsMax);
}
