/** `ci-insights push [format] <files…>`: uploads test reports from a CI job. */
import { Command } from 'commander';
import { axesWords } from '../domain/axes-in-words.ts';
import { UserError } from '../errors.ts';
import type { ReportFormat } from '../formats/format.ts';
import { FORMATS } from '../formats/formats.ts';
import { changedFilesToSend, sendChangedFiles } from './changed-files.ts';
import { sendCodeowners } from './codeowners.ts';
import { leftOutSentence, reportFilesOf, sortedFilesOf } from './files.ts';
import { withRun, withTarget } from './options.ts';
import { print, printError, printJson } from './output.ts';
import { parseWhole } from './parse.ts';
import { dropPending, listPending, PENDING_FOLDER } from './pending.ts';
import { eachWithProgress } from './push-progress.ts';
import { isAllAccepted, summaryOf } from './push-summary.ts';
import { Repository } from './repository.ts';
import { Service } from './service.ts';
import { readClientEnvironment } from './settings.ts';
import {
  connectionOf,
  type RunFlags,
  reportNameOf,
  repositoryOf,
  runInfoOf,
  runTargetOf,
  type TargetFlags,
} from './target.ts';
import { failedUpload, type UploadResult, uploadBytes, uploadFile, uploadOfFile } from './upload.ts';

interface PushFlags extends RunFlags, WaitFlags {
  changedFiles?: string;
}

interface WaitFlags {
  timeout: number;
  wait: boolean;
  waitTimeout: number;
  json?: boolean;
}

const WAIT_SECONDS_DEFAULT = 120;
const TOTAL_SECONDS_DEFAULT = 600;

export function pushCommand(): Command {
  const command = new Command('push')
    .description('upload test reports from a CI job')
    .argument('[files...]', 'files, globs, or folders with reports of any format, told by their content')
    .option('--pending [folder]', 'send what earlier jobs could not send')
    .action(async (patterns: string[], { pending, ...flags }: PendingFlags) => {
      if (pending !== undefined) await pushPending(pending === true ? PENDING_FOLDER : pending, flags);
      else if (patterns.length > 0) await pushAny(patterns, flags);
      else
        throw new UserError(
          'Name reports, such as `push reports`, or `push junit reports` for one format, or pass --pending.',
        );
    });
  withPush(command);
  for (const format of FORMATS) command.addCommand(formatCommand(format));
  return command;
}

const withPush = (command: Command): Command =>
  withRun(withTarget(command, TOTAL_SECONDS_DEFAULT))
    .option(
      '--changed-files <file>',
      'also send the files that the change touches, one a line; - reads the standard input, git compares with the base of the pull request',
    )
    .option('--wait-timeout <seconds>', 'how long to wait for results to be stored', parseWhole, WAIT_SECONDS_DEFAULT)
    .option('--no-wait', 'do not wait for results to be stored')
    .option('--json', 'print the results as JSON');

const formatCommand = (format: ReportFormat): Command => {
  const command = new Command(format.name)
    .summary(`upload ${format.title} reports`)
    .description(
      `Upload ${format.title} reports. ${format.description} The run is read from the environment of GitHub Actions, GitLab CI, Jenkins, Buildkite, CircleCI, Azure Pipelines, Bitbucket Pipelines or Travis CI.`,
    )
    .argument('<files...>', `files, globs, or folders (every ${format.globs.join(' and ')} in them)`);
  return withPush(command).action((patterns: string[], flags: PushFlags) => pushFiles(format, patterns, flags));
};

async function pushFiles(format: ReportFormat, patterns: string[], flags: PushFlags): Promise<void> {
  const { files, missing, leftOut } = await reportFilesOf(patterns, format, process.cwd());
  for (const file of leftOut) printError(await leftOutSentence(file, format, process.cwd()));
  if (files.length === 0)
    throw new UserError(`No reports found: ${(missing.length > 0 ? missing : patterns).join(', ')}.`);
  const problems = new Map(missing.map((file) => [file, NO_FILE]));
  await send(new Map(files.map((file) => [file, format])), problems, flags);
}

const NO_FILE = 'there is no such file';

/** Sends each report in its own format, and says what was found. */
async function pushAny(patterns: string[], flags: PushFlags): Promise<void> {
  const { formats, missing, leftOut, refused } = await sortedFilesOf(patterns, process.cwd());
  for (const [file, why] of leftOut) printError(`${file} is left out: ${why}.`);
  if (formats.size + refused.size === 0)
    throw new UserError(`No reports found: ${(missing.length > 0 ? missing : patterns).join(', ')}.`);
  if (formats.size > 0) printError(`Found ${foundSentence([...formats.values()])}.`);
  await send(formats, new Map([...missing.map((file) => [file, NO_FILE] as const), ...refused]), flags);
}

/** `2 JUnit XML reports, 1 TAP report` */
const foundSentence = (found: readonly ReportFormat[]): string =>
  FORMATS.flatMap((format) => {
    const count = found.filter((one) => one === format).length;
    return count === 0 ? [] : `${count} ${format.title} report${count === 1 ? '' : 's'}`;
  }).join(', ');

/** @param problems why other files are not sent */
async function send(
  formats: ReadonlyMap<string, ReportFormat>,
  problems: ReadonlyMap<string, string>,
  flags: PushFlags,
): Promise<void> {
  const environment = readClientEnvironment();
  const run = runInfoOf(environment);
  const connection = connectionOf(flags, environment);
  const { owner, name } = repositoryOf(flags, run);
  const target = runTargetOf(flags, run);
  for (const warning of target.warnings) printError(`Warning: ${warning}`);
  if (Object.keys(target.axes).length > 0) printError(`Leg: ${axesWords(target.axes, ' ')}.`);
  const repository = new Repository(new Service(connection, { totalMs: flags.timeout * 1_000 }), owner, name);
  const job = { query: target.query, provider: run.provider, folder: process.cwd() };
  const paths = await changedFilesToSend(flags.changedFiles, target);
  const sending = Promise.all([
    sendCodeowners(connection, { owner, name }, job),
    sendChangedFiles(connection, { owner, name }, { ...target, paths }),
  ]);
  const results = await eachWithProgress([...formats], ([file, format]) => {
    const upload = uploadOfFile(format, target.query, file, reportNameOf(flags, target, file, formats.size));
    return uploadFile(repository, upload, format, waitMsMax(flags));
  });
  await sending;
  finish([...results, ...[...problems].map(([file, why]) => failedUpload(file, why))], flags);
}

interface PendingFlags extends PushFlags {
  pending?: true | string;
}

/**
 * Sends what is kept, and drops what has arrived. Each report goes to the repository that it was meant for, and none to
 * another than that of the flags or of the job.
 */
async function pushPending(folder: string, flags: TargetFlags & WaitFlags): Promise<void> {
  const { uploads, unreadable } = listPending(folder);
  const problems = unreadable.map((file) => failedUpload(file, 'it cannot be read; delete it'));
  if (uploads.length === 0 && problems.length === 0) {
    if (flags.json) printJson([]);
    else print(`Nothing is pending in ${folder}.`);
    return;
  }
  const environment = readClientEnvironment();
  const service = new Service(connectionOf(flags, environment), { totalMs: flags.timeout * 1_000 });
  const { owner: ownerMeant, repository: nameMeant } = runInfoOf(environment);
  const meant = {
    owner: flags.repo?.owner ?? flags.owner ?? ownerMeant,
    name: flags.repo?.name ?? flags.repository ?? nameMeant,
  };
  const results = await eachWithProgress(uploads, async ({ id, repository: { owner, name }, upload, gzipped }) => {
    if (isOther(owner, meant.owner) || isOther(name, meant.name))
      return failedUpload(
        upload.file,
        `it is kept for ${owner}/${name}: pass --repo ${owner}/${name} to send it there`,
      );
    const result = await uploadBytes(new Repository(service, owner, name), upload, gzipped, waitMsMax(flags));
    if (result.outcome !== 'failed') dropPending(folder, id);
    return result;
  });
  finish([...results, ...problems], flags);
}

/** Whether a name differs from the one that was asked for, if one was. */
const isOther = (name: string, meant: string | undefined): boolean =>
  meant !== undefined && name.toLowerCase() !== meant.toLowerCase();

const waitMsMax = ({ wait, waitTimeout }: WaitFlags): number => (wait ? waitTimeout * 1_000 : 0);

function finish(results: readonly UploadResult[], flags: WaitFlags): void {
  if (!isAllAccepted(results)) process.exitCode = 1;
  if (flags.json) printJson(results);
  else for (const line of summaryOf(results)) print(line);
}
