/** `ci-insights doctor`: checks everything the service needs, and says how to fix what is wrong. */
import { Command } from 'commander';
import { count, print, printJson } from '../client/output.ts';
import { readConfig } from '../config.ts';
import { inLog } from '../domain/foreign-text.ts';
import { UserError } from '../errors.ts';
import type { Finding } from '../operate/doctor/finding.ts';

const MARKS = { ok: 'ok      ', warning: 'warning ', problem: 'PROBLEM ' } as const;

export const doctorCommand = (): Command =>
  new Command('doctor')
    .description(
      'check configuration, stores, queue, disk and clocks; works while the service runs; exits 1 on a problem',
    )
    .option('--json', 'print JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const findings = await findProblems();
      const problems = findings.filter(({ level }) => level === 'problem').length;
      const warnings = findings.filter(({ level }) => level === 'warning').length;
      if (problems > 0) process.exitCode = 1;
      if (json) return printJson({ is_healthy: problems === 0, problems, warnings, findings });
      for (const { check, level, message, remedy } of findings) {
        print(`${MARKS[level]} ${check}: ${inLog(message)}`);
        if (remedy !== undefined) print(`          → ${inLog(remedy)}`);
      }
      print(
        problems === 0
          ? `No problems, ${count(warnings, 'warning')}.`
          : `${count(problems, 'problem')}, ${count(warnings, 'warning')}.`,
      );
    });

/** An invalid configuration is a finding like any other. */
async function findProblems(): Promise<Finding[]> {
  try {
    const config = readConfig();
    const { examine } = await import('../operate/doctor/examine.ts');
    return await examine(config);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const remedy = 'Correct it: docs/configuration.md lists every variable.';
    return [{ check: 'Configuration', level: 'problem', message: error.message.replace(/\s+/g, ' '), remedy }];
  }
}
