/**
 * A repository host with a made-up past, in a separate process: so that neither the import nor what is measured beside it
 * waits for it. `bun tests/bench/import-host.ts <github|gitlab> <path> <runs a day> <tests>` writes a line with its address and
 * the number of results that it has, and ends with its standard input.
 */
import { DAY_MS } from '../../src/domain/time.ts';
import { FakeGithub } from '../support/github-actions.ts';
import { FakeGitlab } from '../support/gitlab-ci.ts';
import { pastOf } from '../support/past.ts';

const DAYS = 89;

const [kind, path = '', runsPerDay, tests] = process.argv.slice(2);
// Until today's midnight, which is never in the future.
const until = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const reports = pastOf({ seed: 1, until, days: DAYS, runsPerDay: Number(runsPerDay), tests: Number(tests) });
const host = kind === 'github' ? new FakeGithub(path, reports) : new FakeGitlab(path, reports);
process.stdout.write(`${JSON.stringify({ url: host.url, executions: reports.length * Number(tests) })}\n`);
for await (const _ of Bun.stdin.stream());
await host.stop();
process.exit(0);
