/** `ci-insights push <format> <files…>`: uploads test reports from a CI job. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { UserError } from '../errors.ts';
import type { ReportFormat } from '../formats/format.ts';
import { FORMATS } from '../formats/formats.ts';
import { detectCi } from './ci-provider.ts';
import { expandFiles } from './files.ts';
import { print, printJson } from './output.ts';
import { parseOwner, parsePath, parseRepositoryName, parseTime, parseUrl, parseWhole } from './parse.ts';
import { openProgress } from './push-progress.ts';
import { isAllAccepted, summaryOf } from './push-summary.ts';
import { type PushFlags, type PushTarget, targetOf } from './push-target.ts';
import { readClientEnvironment } from './settings.ts';
import { ATTEMPTS_MAX, failedUpload, type UploadResult, type UploadSettings, uploadReport } from './upload.ts';

interface PushOptions extends PushFlags {
  wait: boolean;
  waitTimeout: number;
  json?: boolean;
}

/** Uploads at a time: enough to hide the latency of the service, without being a burden to it. */
const CONCURRENCY = 4;
const WAIT_SECONDS_DEFAULT = 120;

export function pushCommand(): Command {
  const command = new Command('push').description('upload test reports from a CI job');
  for (const format of FORMATS) command.addCommand(formatCommand(format));
  return command;
}

const formatCommand = (format: ReportFormat): Command =>
  new Command(format.name)
    .summary(`upload ${format.title} reports`)
    .description(
      `Upload ${format.title} reports. ${format.description} The run is read from the environment of GitHub Actions, GitLab CI, Jenkins, Buildkite, CircleCI, Azure Pipelines, Bitbucket Pipelines or Travis CI.`,
    )
    .argument('<files...>', `files, globs, or folders (every ${format.globs.join(' and ')} in them)`)
    .option('--url <url>', 'address of the service (CI_INSIGHTS_URL, http://127.0.0.1:3000)', parseUrl)
    .option('--token <token>', 'application key; prefer CI_INSIGHTS_TOKEN, which process lists do not show')
    .option('--repo <owner/name>', 'the repository', parsePath)
    .option('--owner <owner>', 'only its owner', parseOwner)
    .option('--repository <name>', 'only its name', parseRepositoryName)
    .option('--pipeline <name>', 'name of the pipeline (workflow)')
    .option('--job <name>', 'name of the CI job; give each leg of a matrix its own')
    .option('--run-id <id>', "the CI provider's id of this run")
    .option('--run-attempt <number>', 'the attempt of the run', parseWhole)
    .option('--commit <sha>', 'the commit that was tested')
    .option('--branch <name>', 'the branch that was tested')
    .option('--pull-request <number>', 'the pull request that was tested', parseWhole)
    .option('--default-branch <name>', "the repository's default branch")
    .option('--started-at <time>', 'when the tests started: shifts the times in the report', parseTime)
    .option('--report <name>', 'name of the report within the job; default: its path')
    .option('--wait-timeout <seconds>', 'how long to wait for results to be stored', parseWhole, WAIT_SECONDS_DEFAULT)
    .option('--no-wait', 'do not wait for results to be stored')
    .option('--json', 'print the results as JSON')
    .action(async (patterns: string[], options: PushOptions) => {
      const environment = readClientEnvironment();
      const { files, missing } = expandFiles(patterns, format.globs, process.cwd());
      if (files.length === 0) throw new UserError(`No reports found: ${missing.join(', ')}.`);
      const run = detectCi(environment.variables, readEvent(environment.variables.GITHUB_EVENT_PATH));
      const target = targetOf(options, run, environment, files.length);
      const settings = {
        waitMsMax: options.wait ? options.waitTimeout * 1_000 : 0,
        attempts: { max: ATTEMPTS_MAX },
      };
      const results = [...(await uploadAll(format, target, files, settings)), ...missing.map(notFound)];
      if (!isAllAccepted(results)) process.exitCode = 1;
      if (options.json) printJson(results);
      else for (const line of summaryOf(results)) print(line);
    });

/** The results in the order of the files, whichever finished first. */
async function uploadAll(
  format: ReportFormat,
  target: PushTarget,
  files: readonly string[],
  settings: UploadSettings,
): Promise<UploadResult[]> {
  const progress = openProgress(files.length, process.stderr.isTTY === true);
  const results: UploadResult[] = [];
  const left = files.entries();
  const send = async (): Promise<void> => {
    for (const [index, file] of left) {
      const result = await uploadReport(format, target, file, settings);
      results[index] = result;
      progress.done(result);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, send));
  progress.stop();
  return results;
}

const notFound = (file: string): UploadResult => failedUpload(file, 'there is no such file');

/** GitHub's description of the event that started the job. Without it, the other variables must be enough. */
function readEvent(path: string | undefined): unknown {
  if (!path) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
