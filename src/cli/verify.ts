/** `ci-insights verify`: compares every derived table with the executions. */
import { Command } from 'commander';
import { count, print, printable, printJson } from './output.ts';
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
          executions: report.executions,
          pending_blocks: report.pendingBlocks,
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
        print(`${count(report.pendingBlocks, 'block')} not compared: a running service is still storing them.`);
      print(
        report.isConsistent
          ? `All derived tables agree with ${count(report.executions, 'execution')}.`
          : 'There are differences. Run `ci-insights rebuild` to recompute all derived tables.',
      );
    });
