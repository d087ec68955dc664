/** The service as a process of its own, on embedded stores in a folder. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { adminKeyFile } from '../../src/keys/admin-key.ts';

const ROOT = resolve(import.meta.dir, '../..');
const CLI = join(ROOT, 'src/cli.ts');
const environmentOf = (dataDir: string) => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  DATA_DIR: dataDir,
  PORT: '0',
});

export interface ServiceProcess {
  url: string;
  /** Sends a request with the admin key. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** SIGTERM; returns the exit code. */
  stop(): Promise<number | null>;
  /** Ends it without a word, as a crash does. */
  kill(): Promise<void>;
}

/** Starts it and returns when it says that it is ready. */
export async function startServiceProcess(dataDir: string): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [CLI, 'serve'], {
    env: { ...environmentOf(dataDir), LOG_LEVEL: 'error' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await readyUrl(child);
  const key = readFileSync(adminKeyFile(dataDir), 'utf8').trim();
  return {
    url,
    request: (path, init = {}) =>
      fetch(`${url}${path}`, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } }),
    stop: async () => {
      const ended = new Promise<number | null>((done) => child.once('exit', done));
      child.kill('SIGTERM');
      return ended;
    },
    kill: async () => {
      const ended = new Promise((done) => child.once('exit', done));
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function readyUrl(child: ChildProcess): Promise<string> {
  return new Promise((done, failed) => {
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const url = /ready at (http:\S+)/.exec(output)?.[1];
      if (url) done(url);
    });
    child.once('exit', (code) => failed(new Error(`the service ended with ${code}: ${output}`)));
  });
}

/** Runs a command of `ci-insights` on a folder. */
export function runCommand(dataDir: string, ...args: string[]): { code: number; out: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, CLI, ...args], { env: environmentOf(dataDir) });
  return { code: exitCode, out: stdout.toString() + stderr.toString() };
}
