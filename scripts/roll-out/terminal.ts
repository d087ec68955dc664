/** A terminal whose commands and their output are printed, with processes that go on in the background. */
import { type ChildProcess, spawn } from 'node:child_process';

/** Lines of one command; the rest is counted. */
const LINES_SHOWN = 40;

export class Terminal {
  readonly #processes = new Map<string, { command: string; child: ChildProcess }>();

  constructor(
    readonly folder: string,
    readonly environment: Record<string, string>,
  ) {}

  set(name: string, value: string): void {
    this.environment[name] = value;
  }

  get(name: string): string {
    return this.environment[name] ?? '';
  }

  title(text: string): void {
    console.log(`\n# ${text}\n`);
  }

  say(text: string): void {
    console.log(`  → ${text}`);
  }

  /** Returns what the command printed; throws if it exits with another code. */
  async run(command: string, expected = 0): Promise<string> {
    console.log(`$ ${command}`);
    const startedAt = performance.now();
    const child = spawn('bash', ['-c', `set -o pipefail; ${command}`], {
      cwd: this.folder,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()));
    const code = await new Promise<number | null>((done) => child.once('close', done));
    const lines = output.trimEnd().split('\n');
    if (output !== '') console.log(lines.slice(0, LINES_SHOWN).join('\n'));
    if (lines.length > LINES_SHOWN) console.log(`… ${lines.length - LINES_SHOWN} more lines`);
    const seconds = (performance.now() - startedAt) / 1_000;
    if (code !== expected) throw new Error(`exit code ${code}`);
    if (code !== 0 || seconds > 1) console.log(`(exit code ${code}, ${seconds.toFixed(1)} s)`);
    return output;
  }

  /** Starts a process, and returns when it says that it is ready. */
  async start(name: string, command: string): Promise<void> {
    const startedAt = performance.now();
    const child = spawn('bash', ['-c', `exec env ${command}`], {
      cwd: this.folder,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    await new Promise<void>((ready, failed) => {
      child.once('exit', (code) => failed(new Error(`${name} ended with ${code}: ${output}`)));
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (data: Buffer) => {
          output += data.toString();
          if (/ ready.*\n/.test(output)) ready();
        });
    });
    console.log(`$ ${command} &   # ${name}, ready after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
    this.#processes.set(name, { command, child });
  }

  /** SIGTERM, as supervisors do; throws if the process does not end well. */
  async stop(name: string): Promise<void> {
    const running = this.#processes.get(name);
    if (running === undefined) return;
    this.#processes.delete(name);
    const startedAt = performance.now();
    const ended = new Promise<number | null>((done) => running.child.once('close', done));
    running.child.kill('SIGTERM');
    const code = await ended;
    console.log(
      `$ kill -TERM $${name.replace('-', '_')}   # ended with ${code} after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`,
    );
    if (code !== 0) throw new Error(`${name} ended with ${code}`);
  }

  async restart(name: string): Promise<void> {
    const command = this.#processes.get(name)?.command;
    if (command === undefined) throw new Error(`${name} does not run`);
    await this.stop(name);
    await this.start(name, command);
  }

  /** Ends what still runs. */
  async close(): Promise<void> {
    for (const name of [...this.#processes.keys()]) await this.stop(name).catch(() => {});
  }
}
