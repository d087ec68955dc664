/** Options that several commands share. */
import type { Command } from 'commander';
import {
  collectAxis,
  collectPlace,
  parseFolderUrl,
  parseOwner,
  parsePath,
  parseRepositoryName,
  parseTime,
  parseUrl,
  parseWhole,
} from './parse.ts';

/** Where requests go, and how long they may take together. */
export const withTarget = (command: Command, totalSeconds: number): Command =>
  command
    .option('--url <url>', 'address of the service (CI_INSIGHTS_URL, http://127.0.0.1:3000)', parseUrl)
    .option('--repo <owner/name>', 'the repository', parsePath)
    .option('--owner <owner>', 'only its owner', parseOwner)
    .option('--repository <name>', 'only its name', parseRepositoryName)
    .option('--timeout <seconds>', 'how long all requests may take together, with retries', parseWhole, totalSeconds);

/** Options that replace what the CI provider's environment says, for other providers and other choices. */
export const withRun = (command: Command): Command =>
  command
    .option('--pipeline <name>', 'name of the pipeline (workflow)')
    .option('--job <name>', 'name of the CI job')
    .option('--axis <name=value>', 'what differs in this leg of a matrix, such as os=windows; repeatable', collectAxis)
    .option('--place <name=value>', 'which machine ran it, such as runner=r7; names no leg; repeatable', collectPlace)
    .option('--run-id <id>', "the CI provider's id of this run")
    .option('--run-attempt <number>', 'the attempt of the run', parseWhole)
    .option('--commit <sha>', 'the commit that was tested')
    .option('--branch <name>', 'the branch that was tested')
    .option('--pull-request <number>', 'the pull request that was tested', parseWhole)
    .option('--base-branch <name>', 'the branch that the pull request is for')
    .option('--default-branch <name>', "the repository's default branch")
    .option('--job-url <url>', 'the page of the CI job, to which failures link', parseUrl)
    .option('--attachments-url <url>', 'where the job uploads attachments: failures link to them there', parseFolderUrl)
    .option('--attachments-root <folder>', 'the folder that is found there; default: the working directory')
    .option('--started-at <time>', 'when the tests started: shifts the times in the report', parseTime)
    .option('--report <name>', 'name of the report within the job; default: its path');
