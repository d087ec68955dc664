/** The service as an operator starts it: a separate process, configured by its environment. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { adminKeyFile } from '../../src/access/admin-key.ts';
import type { MemoryGroup } from './memory-group.ts';
import { beginWithTemplate } from './template.ts';

export const ROOT = resolve(import.meta.dir, '../..');
export const CLI = join(ROOT, 'src/cli.ts');

const machine = () => {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH, HOME };
};

export class ServiceProcess {
  #child: ChildProcess | undefined;
  /** Everything written to standard output and to its log, in order. */
  written = '';
  /** Only its log: what it wrote to standard error. */
  logged = '';

  constructor(
    readonly command: 'serve' | 'worker',
    readonly environment: Readonly<Record<string, string | undefined>>,
    /** `preload`: a module that the process runs first; `root`: the folder of another version; `group`: runs it there. */
    readonly options: { preload?: string; root?: string; group?: MemoryGroup } = {},
  ) {}

  /** On embedded stores in a folder, on a free port. */
  static onFolder(dataDir: string, environment: Readonly<Record<string, string | undefined>> = {}): ServiceProcess {
    beginWithTemplate(dataDir);
    return new ServiceProcess('serve', { DATA_DIR: dataDir, PORT: '0', ...environment });
  }

  get pid(): number {
    const pid = this.#child?.pid;
    if (pid === undefined) throw new Error('the service does not run');
    return pid;
  }

  /** The address that it reports. */
  get origin(): string {
    const origin = /ready at (http:\/\/[^\s/]+)/.exec(this.written)?.[1];
    if (origin === undefined) throw new Error(`the service does not say where it answers: ${this.written}`);
    return origin;
  }

  /** The admin key that the first start on its folder made. */
  get adminToken(): string {
    return readFileSync(adminKeyFile(this.environment.DATA_DIR ?? ''), 'utf8').trim();
  }

  /** Sends a request with that key. */
  request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.adminToken}`);
    return fetch(path.startsWith('http') ? path : `${this.origin}${path}`, { ...init, headers });
  }

  /** Returns when it reports that it is ready. */
  async start(): Promise<void> {
    this.written = '';
    const { preload, root, group } = this.options;
    const first = preload === undefined ? [] : ['--preload', preload];
    const cli = root === undefined ? CLI : join(root, 'src/cli.ts');
    const command = [process.execPath, ...first, cli, this.command];
    const [program = '', ...args] = group?.command(...command) ?? command;
    const child = spawn(program, args, {
      env: { ...machine(), LOG_LEVEL: 'error', ...this.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stderr?.on('data', (data: Buffer) => {
      this.written += data.toString();
      this.logged += data.toString();
    });
    await new Promise<void>((ready, failed) => {
      child.once('exit', (code) =>
        failed(new Error(`${this.command} ended with ${code} before it was ready: ${this.written}`)),
      );
      child.stdout?.on('data', (data: Buffer) => {
        this.written += data.toString();
        if (/ ready.*\n/.test(this.written)) ready();
      });
    });
  }

  /** SIGTERM; returns the exit code. */
  stop(): Promise<number | null> {
    return this.#end('SIGTERM');
  }

  /** Kills it without warning, as a crash does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    this.#child = undefined;
    if (!child) return null;
    // It may have ended already, for example because its disk is gone.
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    // `close` rather than `exit`: everything that it wrote has been read.
    const ended = new Promise<number | null>((done) => child.once('close', done));
    child.kill(signal);
    return ended;
  }
}

/** Runs a command of `ci-insights` on a folder. */
export function runCommand(dataDir: string, ...args: string[]): { code: number; out: string } {
  const env = { ...machine(), DATA_DIR: dataDir, PORT: '0' };
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, CLI, ...args], { env });
  return { code: exitCode, out: stdout.toString() + stderr.toString() };
}
