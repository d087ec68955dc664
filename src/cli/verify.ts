/** `ci-insights verify`: compares every derived table with the executions. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { count, print, printJson } from '../client/output.ts';
import { parseUrl } from '../client/parse.ts';
import { inLog } from '../domain/foreign-text.ts';
import { type VerifyReportDocument, verifyReportSchema } from '../domain/verify-report.ts';
import { UserError } from '../errors.ts';
import { ask, findService, type RunningService, type ServiceFlags } from './running.ts';
import { withStores } from './stores.ts';

const POLL_MS = 1_000;

export const verifyCommand = (): Command =>
  new Command('verify')
    .description('compare all derived tables with the executions; exits 1 on a difference')
    .option(
      '--url <url>',
      'ask this service (CI_INSIGHTS_URL); default: the stores, or the one that uses them',
      parseUrl,
    )
    .option('--json', 'print JSON')
    .action(async ({ json, ...flags }: ServiceFlags & { json?: boolean }) => {
      const service = findService(flags);
      const report = await (service ? askService(service) : readStores());
      if (!report.is_consistent) process.exitCode = 1;
      if (json) printJson(report);
      else for (const line of linesOf(report)) print(line);
    });

async function readStores(): Promise<VerifyReportDocument> {
  const { documentOf, verify } = await import('../maintenance/verify.ts');
  return documentOf(await withStores((deps) => verify(deps)));
}

const verification = z.object({ id: z.string(), status: z.string(), report: verifyReportSchema.nullable() });

async function askService(service: RunningService): Promise<VerifyReportDocument> {
  let found = await ask(service, verification, '/v1/verifications', 'POST');
  while (found.status === 'running') {
    await sleep(POLL_MS);
    found = await ask(service, verification, `/v1/verifications/${found.id}`);
  }
  if (!found.report) throw new UserError('The verification failed. The log of the worker that made it says why.');
  return found.report;
}

function linesOf(report: VerifyReportDocument): string[] {
  const { checks, pending_blocks, regrouping } = report;
  const lines = checks.flatMap((check) => [
    `${check.count === 0 ? 'ok  ' : 'DIFF'}  ${check.name}${check.count === 0 ? '' : `: ${count(check.count, 'difference')}`}`,
    ...check.differences.map((difference) => `        ${inLog(difference)}`),
    ...(check.count > check.differences.length
      ? [`        … and ${(check.count - check.differences.length).toLocaleString('en-US')} more`]
      : []),
  ]);
  if (pending_blocks > 0)
    lines.push(
      `What ${count(pending_blocks, 'block')} changed is not compared yet: the service evaluates them when it runs.`,
    );
  if (regrouping.messages + regrouping.tests > 0)
    lines.push(
      `${count(regrouping.messages, 'message')} and ${count(regrouping.tests, 'test')} wait for their new failure groups: the service regroups them when it runs.`,
    );
  return [...lines, conclusion(report)];
}

function conclusion({ is_consistent, is_complete, executions }: VerifyReportDocument): string {
  if (is_consistent) return `All derived tables agree with ${count(executions, 'execution')}.`;
  if (is_complete) return 'There are differences. Run `ci-insights rebuild` to recompute all derived tables.';
  return 'The stored executions are not those that PostgreSQL counts as stored. One of the stores lost data, or was restored from another moment than the other: `ci-insights reconcile` makes them agree (docs/operations.md, "Backup and restore").';
}
