/** `ci-insights verify`: compares every derived table with the executions. */
import { Command } from 'commander';
import { count, print, printable, printJson } from '../client/output.ts';
import type { VerifyReport } from '../maintenance/verify.ts';
import { withStores } from './stores.ts';

export const verifyCommand = (): Command =>
  new Command('verify')
    .description('compare all derived tables with the executions; exits 1 on a difference')
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const { verify } = await import('../maintenance/verify.ts');
      const report = await withStores(verify);
      if (!report.isConsistent) process.exitCode = 1;
      if (json)
        return printJson({
          is_consistent: report.isConsistent,
          is_complete: report.isComplete,
          executions: report.executions,
          pending_blocks: report.pendingBlocks,
          regrouping: report.regrouping,
          checks: report.checks,
        });
      for (const check of report.checks) {
        print(
          `${check.count === 0 ? 'ok  ' : 'DIFF'}  ${check.name}${check.count === 0 ? '' : `: ${count(check.count, 'difference')}`}`,
        );
        for (const difference of check.differences) print(`        ${printable(difference)}`);
        if (check.count > check.differences.length)
          print(`        … and ${(check.count - check.differences.length).toLocaleString('en-US')} more`);
      }
      if (report.pendingBlocks > 0)
        print(
          `What ${count(report.pendingBlocks, 'block')} changed is not compared yet: the service evaluates them when it runs.`,
        );
      const { messages, tests } = report.regrouping;
      if (messages + tests > 0)
        print(
          `${count(messages, 'message')} and ${count(tests, 'test')} wait for their new failure groups: the service regroups them when it runs.`,
        );
      print(conclusion(report));
    });

function conclusion({ isConsistent, isComplete, executions }: VerifyReport): string {
  if (isConsistent) return `All derived tables agree with ${count(executions, 'execution')}.`;
  if (isComplete) return 'There are differences. Run `ci-insights rebuild` to recompute all derived tables.';
  return 'The stored executions are not those that PostgreSQL counts as stored. `ci-insights rebuild` cannot repair that: one of the stores lost data, or was restored without the other (docs/operations.md, "Backup and restore").';
}
