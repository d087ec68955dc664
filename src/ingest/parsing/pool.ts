/**
 * Parses uploads in a few separate processes: a body that takes seconds or gigabytes delays no other request, and a
 * parser that dies takes nothing with it. Processes, because a Worker of Bun has no limit of memory, and ending one may
 * crash the process.
 */
import { availableParallelism } from 'node:os';
import type { Logger } from '../../observability/log.ts';
import { parsersFor } from './capacity.ts';
import { Parser, type ParserEnd, type ParserLimits } from './parser.ts';
import { decodeResult, type Parse, type ParseResult, type ParseTask } from './task.ts';

export interface ParserPoolOptions extends Partial<ParserLimits> {
  log: Logger;
  size?: number;
}

const { size: SIZE, memoryBytesMax } = parsersFor(process.constrainedMemory(), availableParallelism());
/** The largest upload that is accepted takes about half of each time. */
const LIMITS: ParserLimits = { memoryBytesMax, cpuSecondsMax: 15, secondsMax: 60 };
/** A parser that has grown beyond this is replaced: its memory would not shrink again. */
const RESIDENT_BYTES_KEPT = 200 * 1024 * 1024;

interface Waiting {
  task: ParseTask;
  body: Uint8Array;
  resolve(result: ParseResult): void;
  reject(error: unknown): void;
  /** A parser has died while it read it, so it is read for the second time. */
  isRepeated: boolean;
}

export class ParserPool {
  readonly #limits: ParserLimits;
  readonly #size: number;
  readonly #log: Logger;
  readonly #parsers = new Set<Parser>();
  readonly #idle: Parser[] = [];
  /** By owner, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting[]>();
  #isClosed = false;

  constructor({ log, size = SIZE, ...limits }: ParserPoolOptions) {
    this.#limits = { ...LIMITS, ...limits };
    this.#log = log;
    this.#size = size;
  }

  readonly parse: Parse = (task, body) =>
    new Promise((resolve, reject) => {
      this.#wait({ task, body, resolve, reject, isRepeated: false });
      this.#dispatch();
    });

  /** Ends the parsers; call it when no request is being answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#parsers].map((parser) => parser.stop()));
  }

  /** Parsers are started when they are needed, and only then replaced. */
  #start(): Parser {
    const parser = new Parser(this.#limits, (printed) => {
      if (!this.#isClosed) this.#log.error({ printed: printed.slice(-2_000) }, 'a parser reported an error');
    });
    this.#parsers.add(parser);
    return parser;
  }

  async #end(parser: Parser): Promise<void> {
    await parser.stop();
    this.#parsers.delete(parser);
  }

  #wait(job: Waiting): void {
    const { owner } = job.task.repository;
    const queue = this.#waiting.get(owner);
    if (queue) queue.push(job);
    else this.#waiting.set(owner, [job]);
  }

  /** The next upload; owners take turns. */
  #next(): Waiting | undefined {
    for (const [owner, queue] of this.#waiting) {
      const job = queue.shift();
      this.#waiting.delete(owner);
      if (queue.length > 0) this.#waiting.set(owner, queue);
      return job;
    }
    return undefined;
  }

  #dispatch(): void {
    while (this.#waiting.size > 0) {
      const parser = this.#idle.pop() ?? (this.#parsers.size < this.#size ? this.#start() : undefined);
      if (!parser) return;
      const job = this.#next();
      if (!job) return;
      void this.#run(parser, job)
        .catch(job.reject)
        .finally(() => this.#dispatch());
    }
  }

  async #run(parser: Parser, job: Waiting): Promise<void> {
    const answer = await parser.run(job.task, job.body);
    if (typeof answer === 'string') {
      await this.#end(parser);
      return this.#explain(answer, job);
    }
    if (parser.restingBytes > RESIDENT_BYTES_KEPT) await this.#end(parser);
    else this.#idle.push(parser);
    job.resolve(decodeResult(answer));
  }

  #explain(end: ParserEnd, job: Waiting): void {
    const { repository, input } = job.task;
    this.#log.warn(
      { ...repository, input: input.kind, bytes: job.body.length, end },
      'a parser ended while it read an upload',
    );
    if (end === 'died' && !job.isRepeated) this.#wait({ ...job, isRepeated: true });
    else job.resolve({ outcome: 'refused', ...this.#refusalOf(end) });
  }

  #refusalOf(end: ParserEnd): { why: 'invalid' | 'too large'; sentence: string } {
    const { memoryBytesMax, cpuSecondsMax, secondsMax } = this.#limits;
    if (end === 'died')
      return {
        why: 'invalid',
        sentence: 'The upload cannot be read: its parser ended unexpectedly, twice. The service has logged it.',
      };
    const what =
      end === 'memory'
        ? `takes more than ${Math.round(memoryBytesMax / 1024 ** 2)} MiB of memory`
        : `takes longer than ${end === 'time' ? secondsMax : cpuSecondsMax} s`;
    return { why: 'too large', sentence: `The upload ${what} to read. Send it in several uploads.` };
  }
}
