/**
 * One run of a test runner, as its reporter plugin tells the service: each file of tests is sent as soon as it ends, and
 * the quarantines are read meanwhile. A service in trouble never fails or delays the tests: nothing here throws.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { attachmentsFolderOf } from '../../domain/attachments.ts';
import { type Axes, axesRejection, axesSchema } from '../../domain/axes.ts';
import { inLog } from '../../domain/foreign-text.ts';
import { UserError } from '../../errors.ts';
import type { ReportFormat } from '../../formats/format.ts';
import { count } from '../output.ts';
import { keepPending, PENDING_FOLDER } from '../pending.ts';
import { Repository } from '../repository.ts';
import { Service } from '../service.ts';
import { readClientEnvironment } from '../settings.ts';
import { connectionOf, type RunFlags, type RunTarget, repositoryOf, runInfoOf, runTargetOf } from '../target.ts';
import { failedUpload, type UploadResult, uploadBytes, uploadOf } from '../upload.ts';

/** Options in the configuration of a runner; the environment of the CI provider says the rest. */
export type ReporterOptions = Pick<
  RunFlags,
  | 'url'
  | 'owner'
  | 'repository'
  | 'pipeline'
  | 'job'
  | 'runId'
  | 'runAttempt'
  | 'commit'
  | 'branch'
  | 'pullRequest'
  | 'baseBranch'
  | 'defaultBranch'
  | 'jobUrl'
  | 'attachmentsUrl'
  | 'attachmentsRoot'
  | 'place'
> & {
  /** They differ between the legs of a matrix, such as `{ os: 'windows' }`. */
  axes?: Axes;
};

interface Sending {
  repository: () => Repository;
  target: RunTarget;
}

const UPLOAD_MS_MAX = 60_000;
const QUARANTINES_MS_MAX = 15_000;
const compress = promisify(gzip);

export class ReporterSession {
  readonly #runner: string;
  readonly #format: ReportFormat;
  readonly #sending: Sending | null;
  readonly #whyNot: string = '';
  readonly #quarantined: Promise<ReadonlySet<string>>;
  readonly #uploads: Promise<UploadResult>[] = [];
  readonly #failed: string[] = [];

  /** @param runner names the reports of this runner, so that those of another in the same job stay apart */
  constructor(runner: string, format: ReportFormat, options: ReporterOptions = {}) {
    this.#runner = runner;
    this.#format = format;
    try {
      this.#sending = sendingOf(options);
    } catch (error) {
      this.#sending = null;
      this.#whyNot = error instanceof Error ? error.message : String(error);
    }
    this.#quarantined = this.#sending === null ? Promise.resolve(new Set<string>()) : quarantinedIn(this.#sending);
  }

  /**
   * Sends the report of one file of tests, while others run.
   *
   * @param failed the names of its failed tests, as the service will read them in the report
   */
  add(file: string, report: string, failed: readonly string[]): void {
    this.#failed.push(...failed);
    if (this.#sending !== null) this.#uploads.push(this.#send(this.#sending, file, report));
  }

  /** Waits until everything is sent. Returns the lines to print. */
  async end(): Promise<string[]> {
    if (this.#sending === null) return [`ci-insights: nothing is sent. ${inLog(this.#whyNot)}`];
    const results = await Promise.all(this.#uploads);
    const quarantined = await this.#quarantined;
    const excused = this.#failed.filter((name) => quarantined.has(name));
    const problems = results.filter(({ outcome }) => outcome === 'failed');
    const warnings = new Set([...this.#sending.target.warnings, ...results.flatMap(({ warnings: own }) => own)]);
    return [
      ...excused.map((name) => `ci-insights: quarantined  ${inLog(name)}`),
      ...(excused.length > 0
        ? [`ci-insights: ${count(excused.length, 'failed test')} of ${this.#failed.length} quarantined.`]
        : []),
      ...[...warnings].map((warning) => `ci-insights: ${inLog(warning)}`),
      ...[...new Set(problems.map(({ problem }) => problem ?? ''))].map((problem) => `ci-insights: ${inLog(problem)}`),
      ...(problems.some(({ isRetryable }) => isRetryable)
        ? [`ci-insights: reports kept in ${PENDING_FOLDER}; \`ci-insights push --pending\` sends them later.`]
        : []),
    ];
  }

  async #send({ repository, target }: Sending, file: string, report: string): Promise<UploadResult> {
    const upload = uploadOf(this.#format, target.query, file, `${target.reportPrefix}${this.#runner}/${file}`);
    try {
      const to = repository();
      const result = await uploadBytes(to, upload, await compress(report), 0);
      if (result.outcome === 'failed' && result.isRetryable)
        keepPending(PENDING_FOLDER, to, upload, Buffer.from(report));
      return result;
    } catch (error) {
      return failedUpload(file, error);
    }
  }
}

function sendingOf(options: ReporterOptions): Sending {
  const environment = readClientEnvironment();
  const run = runInfoOf(environment);
  const connection = connectionOf(options, environment);
  const { owner, name } = repositoryOf(options, run);
  // The time of a request is its own: tests may run for hours between two of them.
  const repository = () => new Repository(new Service(connection, { totalMs: UPLOAD_MS_MAX }), owner, name);
  const { axes = {}, place = {} } = options;
  for (const map of [axes, place]) requireAxes(map);
  const attachmentsUrl =
    options.attachmentsUrl === undefined ? {} : { attachmentsUrl: folderOf(options.attachmentsUrl) };
  return { repository, target: runTargetOf({ ...options, ...attachmentsUrl, axis: axes, place }, run) };
}

function folderOf(address: string): string {
  const folder = attachmentsFolderOf(String(address));
  if (folder === null)
    throw new UserError('attachmentsUrl must be an https:// URL without a password or a query in it.');
  return folder;
}

/** Throws a {@link UserError}: the configuration of a runner may hold anything. */
function requireAxes(map: unknown): void {
  const read = axesSchema.safeParse(map);
  const problem = read.success ? axesRejection(read.data) : 'axes and places are names with texts as values';
  if (problem !== null) throw new UserError(`The configuration is wrong: ${problem}.`);
}

async function quarantinedIn({ repository, target }: Sending): Promise<ReadonlySet<string>> {
  try {
    const timeout = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error('too late')), QUARANTINES_MS_MAX).unref();
    });
    const records = await Promise.race([repository().quarantines(target), timeout]);
    return new Set(records.map(({ test_name }) => test_name));
  } catch {
    return new Set();
  }
}
