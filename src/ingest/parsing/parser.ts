/** One parser process: started, given one task at a time, watched, and ended when a task takes too much. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { decodeFrames, encodeFrame, type Frame } from '../../frames.ts';
import type { PARSER_ENDS } from '../../observability/metrics.ts';
import { NICENESS, offerProcess, yieldProcess } from '../../processes.ts';
import { memorySettings } from '../../runtime.ts';
import type { ParseTask } from './task.ts';

export interface ParserLimits {
  /** Resident memory of the process. */
  memoryBytesMax: number;
  /** CPU time of one task. */
  cpuSecondsMax: number;
  /** Time of one task, waits included. */
  secondsMax: number;
}

/**
 * Why a task has no result. `time`: it got too little processor time. `died`: it failed alone. `killed`: someone else
 * ended it, such as the kernel for want of memory. `unstarted`: it ended before it could read anything.
 */
export type ParserEnd = (typeof PARSER_ENDS)[number];

const SCRIPT = fileURLToPath(new URL('./process.ts', import.meta.url));
/** A process may be a little later than the end of its pipe. */
const ENDING_MS_MAX = 1_000;
/** No report makes a parser send them to itself. */
const SIGNALS_OF_OTHERS: ReadonlySet<unknown> = new Set(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']);
/** Memory grows by a few MiB in a millisecond at most. */
const WATCH_MS = 50;

export class Parser {
  readonly #child: Bun.Subprocess<'pipe', 'pipe', 'pipe'>;
  readonly #frames: AsyncGenerator<Frame>;
  readonly #ready: Promise<IteratorResult<Frame>>;
  #end: ParserEnd | undefined;
  #restingBytes = 0;
  #restingAt = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly limits: ParserLimits,
    onDeath: (printed: string) => void,
    script = SCRIPT,
  ) {
    this.#child = Bun.spawn([process.execPath, script], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
      // Nothing of the service's environment: it holds credentials.
      env: memorySettings('api'),
    });
    this.#frames = decodeFrames(this.#child.stdout);
    this.#ready = this.#frames.next();
    yieldProcess(this.#child.pid, NICENESS.parsers);
    offerProcess(this.#child.pid);
    void new Response(this.#child.stderr).text().then((printed) => {
      if (printed !== '') onDeath(printed);
    });
  }

  /** The frame with the result, or why there is none; then the process has ended. */
  async run(task: ParseTask, body: Uint8Array): Promise<Frame | ParserEnd> {
    const { done } = await this.#ready;
    if (done) return 'unstarted';
    const startedAt = performance.now();
    // Counts from the first look on: most tasks end before it.
    let cpuAtStart: number | undefined;
    const watch = setInterval(() => {
      const seconds = (performance.now() - startedAt) / 1_000;
      const cpuSeconds = cpuSecondsOf(this.#child.pid);
      cpuAtStart ??= cpuSeconds;
      if (this.#residentBytes > this.limits.memoryBytesMax) this.#kill('memory');
      else if (cpuSeconds - cpuAtStart > this.limits.cpuSecondsMax) this.#kill('cpu time');
      else if (seconds > this.limits.secondsMax) this.#kill('time');
    }, WATCH_MS);
    try {
      await this.#send(encodeFrame(task, body));
      const { value } = await this.#frames.next();
      return value ?? (await this.#whyEnded());
    } catch {
      // It broke the pipe.
      return await this.#whyEnded();
    } finally {
      clearInterval(watch);
    }
  }

  async #whyEnded(): Promise<ParserEnd> {
    // Without its answer it is of no use, also if it still runs.
    if (!this.hasEnded) await Promise.race([this.#child.exited, Bun.sleep(ENDING_MS_MAX)]);
    return this.#end ?? (SIGNALS_OF_OTHERS.has(this.#child.signalCode) ? 'killed' : 'died');
  }

  get hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  /** Every part may fail on its own when the process has died. */
  async #send(pieces: readonly Uint8Array[]): Promise<void> {
    const { stdin } = this.#child;
    const flushed = async () => stdin.flush();
    await Promise.all([...pieces.map(async (piece) => stdin.write(piece)), flushed()]);
  }

  /** Memory of the process between two tasks: looked at now and then, because most tasks are shorter than the look. */
  get restingBytes(): number {
    const now = performance.now();
    if (now - this.#restingAt > WATCH_MS) {
      this.#restingAt = now;
      this.#restingBytes = this.#residentBytes;
    }
    return this.#restingBytes;
  }

  /** 0 where it is not known. */
  get #residentBytes(): number {
    const kibibytes = /^VmRSS:\s+(\d+)/m.exec(proc(this.#child.pid, 'status'))?.[1];
    return Number(kibibytes ?? 0) * 1_024;
  }

  /** Ends it at once. */
  async stop(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#child.exited;
  }

  #kill(why: ParserEnd): void {
    this.#end = why;
    this.#child.kill('SIGKILL');
  }
}

const TICKS_PER_SECOND = 100;

/** 0 where it is not known. */
function cpuSecondsOf(pid: number): number {
  const stat = proc(pid, 'stat');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) / TICKS_PER_SECOND;
}

/** Reads what Linux says about a process. Empty elsewhere, where only time limits apply. */
function proc(pid: number, file: 'stat' | 'status'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}
