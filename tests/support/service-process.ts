/** The service as an operator starts it: a process of its own, with the environment alone. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url));

export class ServiceProcess {
  #child: ChildProcess | undefined;

  constructor(
    readonly command: 'serve' | 'worker',
    readonly environment: Readonly<Record<string, string>>,
  ) {}

  /** Returns when it says that it is ready. */
  async start(): Promise<void> {
    const { PATH = '', HOME = '' } = process.env;
    const child = spawn(process.execPath, [CLI, this.command], {
      env: { PATH, HOME, LOG_LEVEL: 'error', ...this.environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once('exit', (code) => reject(new Error(`${this.command} ended with ${code} before it was ready`)));
      child.stdout?.on('data', (data: Buffer) => {
        if (data.toString().includes('ready')) resolve();
      });
    });
  }

  /** SIGTERM; returns the exit code. */
  async stop(): Promise<number | null> {
    const child = this.#child;
    this.#child = undefined;
    if (!child) return null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    child.kill('SIGTERM');
    return ended;
  }
}
