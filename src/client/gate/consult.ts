/** Consults the service for `gate`: sends the reports, keeps what cannot be sent, and asks about the failed tests. */
import type { RepositoryName } from '../../domain/repository-path.ts';
import type { ReportFormat } from '../../formats/format.ts';
import { count } from '../output.ts';
import { keepPending } from '../pending.ts';
import { eachWithProgress } from '../push-progress.ts';
import { readReport } from '../report-body.ts';
import { Repository } from '../repository.ts';
import { Service } from '../service.ts';
import type { ClientEnvironment } from '../settings.ts';
import {
  connectionOf,
  type RunFlags,
  type RunTarget,
  reportNameOf,
  repositoryOf,
  runInfoOf,
  runTargetOf,
} from '../target.ts';
import { type UploadResult, uploadFile, uploadOfFile } from '../upload.ts';
import type { FailedTest } from './reports.ts';
import { type Answer, askAbout } from './verdicts.ts';

/** Share of the time left that goes to waiting until a report is stored: some must remain to ask about the failures. */
const WAIT_SHARE = 0.75;

export interface Consulted extends Answer {
  uploads: UploadResult[];
  historyUrl(testId: string): string;
  /** Null if the service was not asked. */
  subject: Subject | null;
}

/** What the reports are about, for what comes after them. */
export interface Subject {
  repository: Repository;
  target: RunTarget;
  /** Whether the service can answer for every report of this job. */
  isStored: boolean;
}

interface Question {
  format: ReportFormat;
  files: readonly string[];
  failed: readonly FailedTest[];
  environment: ClientEnvironment;
  flags: RunFlags & { timeout: number; pendingFolder: string };
}

/** Never throws: the result of the job does not depend on the service. */
export async function consult(question: Question): Promise<Consulted> {
  const notices: string[] = [];
  try {
    const { environment, flags } = question;
    const run = runInfoOf(environment);
    // Jobs for forks have no key.
    const connection = connectionOf(flags, environment);
    const { owner, name } = repositoryOf(flags, run);
    const target = runTargetOf(flags, run);
    notices.push(...target.warnings);
    const repository = new Repository(
      new Service(connection, { totalMs: flags.timeout * 1_000, command: 'gate' }),
      owner,
      name,
    );
    const uploads = await send(question, repository, { owner, name }, target, notices);
    const isStored = uploads.every(({ outcome }) => outcome === 'stored');
    const asked =
      question.failed.length === 0 ? { known: new Map(), notices: [] } : await askAbout(repository, target, isStored);
    return {
      known: asked.known,
      notices: [...notices, ...asked.notices],
      uploads,
      historyUrl: (testId) => repository.historyUrl(testId),
      subject: { repository, target, isStored },
    };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      known: new Map(),
      notices: [...notices, message, 'The service was not asked: the result of the job stands.'],
      uploads: [],
      historyUrl: (testId) => testId,
      subject: null,
    };
  }
}

async function send(
  { format, files, flags }: Question,
  repository: Repository,
  name: RepositoryName,
  target: RunTarget,
  notices: string[],
): Promise<UploadResult[]> {
  const uploads = files.map((file) =>
    uploadOfFile(format, target.query, file, reportNameOf(flags, target, file, files.length)),
  );
  const results = await eachWithProgress(uploads, (upload) =>
    uploadFile(repository, upload, format, WAIT_SHARE * repository.service.remainingMs),
  );
  const failed = results.flatMap((result, index) => {
    const upload = uploads[index];
    return result.outcome === 'failed' && upload ? [{ result, upload }] : [];
  });
  for (const problem of new Set(failed.map(({ result }) => result.problem))) {
    const reports = failed.filter(({ result }) => result.problem === problem).length;
    notices.push(`${count(reports, 'report')} cannot be sent: ${problem}.`);
  }
  const kept = failed.filter(({ result }) => result.isRetryable);
  for (const { upload } of kept) keepPending(flags.pendingFolder, name, upload, await readReport(format, upload.file));
  if (kept.length > 0)
    notices.push(
      `${count(kept.length, 'report')} kept in ${flags.pendingFolder}: \`ci-insights push --pending\` sends ${kept.length === 1 ? 'it' : 'them'} later.`,
    );
  return results;
}
