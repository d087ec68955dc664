/** Sends the CODEOWNERS file of the repository from jobs of its default branch. Never fails a job. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { CODEOWNERS_PLACES, type CodeownersHost } from '../domain/codeowners-pattern.ts';
import { guessDefaultBranch, isOnDefaultBranch, originOf } from '../domain/default-branch.ts';
import { CODEOWNERS_BYTES_MAX, CODEOWNERS_FILES_BYTES_MAX, CODEOWNERS_FILES_MAX } from '../domain/limits.ts';
import { printError } from './output.ts';
import { Repository } from './repository.ts';
import { type Connection, Service } from './service.ts';
import type { UploadQuery } from './upload-query.ts';

const GITLAB = 'GitLab CI';
/** The job waits for it. */
const SEND_MS_MAX = 15_000;
const LIST_MS_MAX = 10_000;
const LISTED_BYTES_MAX = 64 * 1024 * 1024;

/** Paths that may be those of tests. Others are found as they are reported. */
const MAY_HOLD_TESTS = /test|spec|e2e|\.feature$|check/i;

interface FoundCodeowners {
  host: CodeownersHost;
  /** From the root of the repository. */
  path: string;
  content: string;
}

/** The folder of the working copy that holds a folder; the folder itself if there is none. */
function rootOf(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (at === dirname(at)) return folder;
  }
}

/** Undefined if the repository has none that can be sent. */
function findCodeowners(root: string, provider: string): FoundCodeowners | undefined {
  const isGitlab =
    provider === GITLAB || (existsSync(join(root, '.gitlab-ci.yml')) && !existsSync(join(root, '.github')));
  const host = isGitlab ? 'gitlab' : 'github';
  for (const path of CODEOWNERS_PLACES[host]) {
    const stat = statSync(join(root, path), { throwIfNoEntry: false });
    if (!stat?.isFile()) continue;
    if (stat.size > CODEOWNERS_BYTES_MAX) throw new Error(`${path} is longer than ${CODEOWNERS_BYTES_MAX} bytes`);
    return { host, path, content: readFileSync(join(root, path), 'utf8') };
  }
  return undefined;
}

/** Files of the working copy that may hold tests; none where git does not say, or says too many. */
async function listFiles(root: string): Promise<string[]> {
  // Most jobs have nothing to list.
  const [{ execFile }, { promisify }] = await Promise.all([import('node:child_process'), import('node:util')]);
  const listed = await promisify(execFile)('git', ['-C', root, 'ls-files', '-z'], {
    maxBuffer: LISTED_BYTES_MAX,
    timeout: LIST_MS_MAX,
  }).catch(() => ({ stdout: '' }));
  const files = listed.stdout.split('\0').filter((file) => MAY_HOLD_TESTS.test(file) && !/[\r\n]/.test(file));
  const bytes = files.reduce((sum, file) => sum + Buffer.byteLength(file) + 1, 0);
  return files.length > CODEOWNERS_FILES_MAX || bytes > CODEOWNERS_FILES_BYTES_MAX ? [] : files;
}

/** The words of the job about its run that decide whether it speaks for the default branch. */
function originIn(query: UploadQuery) {
  const word = (name: string): string | null => {
    const value = query[name];
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const pull = word('pull_request');
  return {
    run: { branch: word('branch'), base_ref: word('base_ref'), pull_request: pull === null ? null : Number(pull) },
    defaultBranch: word('default_branch'),
  };
}

/** Whether a job is one of the default branch. Where no one says which that is, `main` and `master` are. */
function isOfDefaultBranch(query: UploadQuery): boolean {
  const { run, defaultBranch } = originIn(query);
  const origin = originOf(run);
  return isOnDefaultBranch(origin, defaultBranch ?? guessDefaultBranch(origin));
}

/** Sends what the working copy around a folder has, if the job is one of the default branch. */
export async function sendCodeowners(
  connection: Connection,
  { owner, name }: { owner: string; name: string },
  { query, provider, folder }: { query: UploadQuery; provider: string; folder: string },
): Promise<void> {
  if (!isOfDefaultBranch(query)) return;
  try {
    const root = rootOf(folder);
    const found = findCodeowners(root, provider);
    if (!found) return;
    const files = (await listFiles(root)).join('\n');
    const repository = new Repository(new Service(connection, { totalMs: SEND_MS_MAX }), owner, name);
    const { problems } = await repository.sendCodeowners({ ...found, ...originIn(query).run, files });
    const [first] = problems;
    if (first)
      printError(
        `${found.path}: ${problems.length === 1 ? 'a line is' : `${problems.length} lines are`} not read as written, the first is line ${first.line} (${first.reason}).`,
      );
  } catch (error) {
    printError(`CODEOWNERS was not sent: ${error instanceof Error ? error.message : String(error)}.`);
  }
}
