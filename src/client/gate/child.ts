/** Runs the command of a job: it has the terminal, and gets the signals that are meant for it. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { printError } from '../output.ts';

export interface Ended {
  code: number;
  signal: string | null;
}

const FORWARDED = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const STANDARD_ERROR = 2;
/** The exit code of shells. */
const CODE_NOT_FOUND = 127;
const CODE_SIGNAL_BASE = 128;

interface Surroundings {
  /** Standard output is for JSON, so the command's goes to standard error. */
  isOutputForMachines: boolean;
  variables: Readonly<Record<string, string | undefined>>;
}

/** Never throws. A command that cannot be started ends with 127. */
export function runCommand(
  [program = '', ...args]: readonly string[],
  { isOutputForMachines, variables }: Surroundings,
): Promise<Ended> {
  return new Promise((resolve) => {
    const stdio = ['inherit', isOutputForMachines ? STANDARD_ERROR : 'inherit', 'inherit'] as const;
    const child = spawn(program, args, { stdio: [...stdio], env: { ...variables } });
    const forward = (signal: NodeJS.Signals): void => void child.kill(signal);
    for (const signal of FORWARDED) process.on(signal, forward);
    const end = (ended: Ended): void => {
      for (const signal of FORWARDED) process.off(signal, forward);
      resolve(ended);
    };
    child.on('error', (error) => {
      printError(`${program} cannot be run: ${error.message}`);
      end({ code: CODE_NOT_FOUND, signal: null });
    });
    child.on('exit', (code, signal) =>
      end({ code: code ?? CODE_SIGNAL_BASE + (signal === null ? 0 : constants.signals[signal]), signal }),
    );
  });
}
