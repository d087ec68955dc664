/** `ci-insights why` about a commit or pull request: did the change cause what failed? */
import { CLAIM_VERDICT_WORDS, claimPercent } from '../../domain/claim-verdict-words.ts';
import { inLog } from '../../domain/foreign-text.ts';
import { UserError } from '../../errors.ts';
import { repositoryAsked } from '../ask-target.ts';
import { changedFromGit, FROM_GIT, listedFiles } from '../changed-files.ts';
import { mergeBaseWith } from '../git.ts';
import { count, print, printJson } from '../output.ts';
import { readInput } from '../read-input.ts';
import type { ClaimAnswer, ClaimQuestion } from '../repository.ts';
import type { RunInfo } from '../run-info.ts';
import { readClientEnvironment } from '../settings.ts';
import { runInfoOf, type TargetFlags } from '../target.ts';

export interface ClaimFlags extends TargetFlags {
  timeout: number;
  json?: boolean;
  commit?: string;
  pullRequest?: number;
  baseCommit?: string;
  changedFiles?: string;
  pipeline?: string;
  job?: string;
  report?: string;
  log?: string;
  limit?: number;
}

/** Nothing failed, or nothing of it is the change's doing: 0. Others than these are errors. */
const EXIT_CODES = { change: 3, unknown: 4 } as const;

const REPORT_CHARACTERS_MAX = 1_000_000;
const LOG_CHARACTERS_MAX = 100_000;

/** Whether the flags ask about a commit or pull request, and not about a test alone. */
export const asksClaims = (names: readonly string[], flags: ClaimFlags): boolean =>
  names.length !== 1 ||
  [flags.commit, flags.pullRequest, flags.baseCommit, flags.report, flags.log].some((flag) => flag !== undefined);

/** Prints the claims, and sets the exit code by them. */
export async function printClaims(names: readonly string[], flags: ClaimFlags): Promise<void> {
  const run = runInfoOf(readClientEnvironment());
  const subject = await subjectOf(flags, run);
  const changed = await changedFilesOf(flags, { run, base: subject.base_commit });
  const question: ClaimQuestion = {
    ...subject,
    ...(changed.length > 0 && { changed_files: changed }),
    ...(flags.pipeline !== undefined && { pipeline_name: flags.pipeline }),
    ...(flags.job !== undefined && { job_name: flags.job }),
    ...(names.length > 0 && { test_names: names }),
    ...(flags.report !== undefined && { report: { text: readText(flags.report, REPORT_CHARACTERS_MAX) } }),
    ...(flags.log !== undefined && { log: readText(flags.log, LOG_CHARACTERS_MAX) }),
    ...(flags.limit !== undefined && { limit: flags.limit }),
  };
  const answer = await repositoryAsked(flags).claims(question);
  process.exitCode = exitCodeOf(answer);
  if (flags.json) printJson(answer);
  else for (const line of linesOf(answer)) print(inLog(line));
}

/** Flags first, then what the CI provider says. Throws a UserError if neither names a commit. */
async function subjectOf(
  flags: ClaimFlags,
  run: RunInfo,
): Promise<Pick<ClaimQuestion, 'commit' | 'pull_request' | 'base_commit'>> {
  if (flags.commit !== undefined && flags.pullRequest !== undefined)
    throw new UserError('Pass --commit or --pull-request, not both.');
  const named = flags.commit !== undefined || flags.pullRequest !== undefined;
  const commit = flags.commit ?? (named ? undefined : run.commit);
  const pull = flags.pullRequest ?? (named || commit !== undefined ? undefined : run.pullRequest);
  if (commit === undefined && pull === undefined)
    throw new UserError(
      'No CI provider says which commit this is: pass --commit or --pull-request, or the name of one test to read its history.',
    );
  // The working copy is the change only in the change's own job.
  const base = flags.baseCommit ?? (named || run.baseRef === undefined ? undefined : await mergeBaseWith(run.baseRef));
  return {
    ...(commit !== undefined && { commit }),
    ...(pull !== undefined && { pull_request: pull }),
    ...(base !== undefined && { base_commit: base }),
  };
}

/** Files found by git are a help only; files asked for by name must exist. Throws a UserError. */
async function changedFilesOf(
  { changedFiles, commit, pullRequest }: ClaimFlags,
  { run, base }: { run: RunInfo; base: string | undefined },
): Promise<string[]> {
  if (changedFiles !== undefined && changedFiles !== FROM_GIT) return listedFiles(changedFiles);
  const isOwnJob = commit === undefined && pullRequest === undefined && run.baseRef !== undefined;
  if (changedFiles === undefined && !isOwnJob) return [];
  const found = base === undefined ? undefined : await changedFromGit(base);
  if (found) return found;
  if (changedFiles === undefined) return [];
  throw new UserError('git does not say which files changed: pass --base-commit, or the paths in a file.');
}

/** The end of a longer log: failures are listed there. Throws a UserError. */
function readText(file: string, most: number): string {
  const text = readInput(file);
  if (text.length <= most) return text;
  if (most === LOG_CHARACTERS_MAX) return text.slice(-most);
  throw new UserError(`${file} has more than ${most} characters: name the tests instead.`);
}

function exitCodeOf({ claims, compared_with: { runs } }: ClaimAnswer): number {
  if (claims.some(({ verdict }) => verdict === 'change')) return EXIT_CODES.change;
  return runs === 0 || claims.some(({ verdict }) => verdict === 'unknown') ? EXIT_CODES.unknown : 0;
}

function linesOf({ commit, compared_with: compared, total, claims, not_found: missing }: ClaimAnswer): string[] {
  const { runs, default_branch: branch, base_commit: base, base_runs: baseRuns, other_changes: others } = compared;
  if (runs === 0) return [`Nothing has arrived of commit ${commit}.`];
  const with_ = [
    branch ?? 'the default branch',
    ...(base === null
      ? []
      : [baseRuns > 0 ? `base ${base.slice(0, 12)}` : `base ${base.slice(0, 12)}, which never ran`]),
    ...(others > 0 ? [count(others, 'other change')] : []),
  ];
  return [
    `Commit ${commit.slice(0, 12)}: ${count(total, 'failed test')} in ${count(runs, 'run')}, compared with ${with_.join(' and ')}.`,
    ...claims.flatMap(linesOfClaim),
    ...(total > claims.length
      ? [`And ${count(total - claims.length, 'more failed test')}, less likely because of it.`]
      : []),
    ...missing.map(({ test, sentence }) => `${test}: ${sentence}`),
  ];
}

const linesOfClaim = (claim: ClaimAnswer['claims'][number]): string[] => [
  `${CLAIM_VERDICT_WORDS[claim.verdict]} (${claimPercent(claim.probability)}): ${claim.test_name} in ${claim.job_name}`,
  ...(claim.exception_message === null ? [] : [`    ${claim.exception_message.split('\n')[0]}`]),
  ...claim.for.map(({ sentence, factor }) => `  + ${sentence} (${factor} times as likely)`),
  ...claim.against.map(({ sentence, factor }) => `  - ${sentence} (${factor} times as likely)`),
  ...(claim.needs ? [`  ? ${claim.needs.sentence}`] : []),
];
