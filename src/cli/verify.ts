/** `ci-insights verify`: compares everything derived with the raw executions. */
import { Command } from 'commander';
import { count, print, printable, printJson } from './output.ts';
import { withStores } from './stores.ts';

export const verifyCommand = (): Command =>
  new Command('verify')
    .description('compare everything derived with the executions; exits 1 on a difference')
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
        print(`${count(report.pendingBlocks, 'block')} still on the way, not compared: a running service stores them.`);
      print(
        report.isConsistent
          ? `Everything derived agrees with ${count(report.executions, 'execution')}.`
          : 'There are differences. `ci-insights rebuild` recomputes everything derived from the executions.',
      );
    });
