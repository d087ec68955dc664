/**
 * Parses uploads in a few separate processes: a body that takes seconds or gigabytes delays no other request, and a
 * parser that dies takes nothing with it. Processes, because a Worker of Bun has no limit of memory, and ending one may
 * crash the process.
 */
import { availableParallelism } from 'node:os';
import type { Logger } from '../../observability/log.ts';
import { parsersFor } from './capacity.ts';
import { Parser, type ParserEnd, type ParserLimits } from './parser.ts';
import { asSmall, laneOf, type ParserLane } from './parser-lane.ts';
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
  lane: ParserLane;
  /** A parser has died while it read it, so it is read for the second time. */
  isRepeated: boolean;
}

/** Of one lane: by owner, in the order of their turns. */
type Line = Map<string, Waiting[]>;

export class ParserPool {
  readonly #limits: ParserLimits;
  readonly #size: number;
  readonly #log: Logger;
  readonly #parsers = new Set<Parser>();
  readonly #idle: Parser[] = [];
  readonly #waiting: Record<ParserLane, Line> = { small: new Map(), large: new Map() };
  /** How many parsers read large uploads: at most `size`. For small ones there is one more. */
  #largeCount = 0;
  #isClosed = false;

  constructor({ log, size = SIZE, ...limits }: ParserPoolOptions) {
    this.#limits = { ...LIMITS, ...limits };
    this.#log = log;
    this.#size = size;
  }

  readonly parse: Parse = (task, body) =>
    new Promise((resolve, reject) => {
      this.#wait({ task, body, resolve, reject, lane: laneOf(task, body), isRepeated: false });
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
    const line = this.#waiting[job.lane];
    const queue = line.get(owner);
    if (queue) queue.push(job);
    else line.set(owner, [job]);
  }

  /** Large ones first: small ones have a parser that no large one gets, so neither waits for ever. */
  #dispatch(): void {
    while (this.#serve('large') || this.#serve('small'));
    const isOneMore = this.#parsers.size > this.#size && this.#largeCount < this.#size;
    const idle = isOneMore ? this.#idle.pop() : undefined;
    if (idle) void this.#end(idle);
  }

  /** Whether an upload of the lane has begun. */
  #serve(lane: ParserLane): boolean {
    const line = this.#waiting[lane];
    const isFull = this.#largeCount >= this.#size;
    if (line.size === 0 || (lane === 'large' && isFull)) return false;
    const sizeMax = isFull ? this.#size + 1 : this.#size;
    const parser = this.#idle.pop() ?? (this.#parsers.size < sizeMax ? this.#start() : undefined);
    const job = parser && nextOf(line);
    if (!job) return false;
    if (lane === 'large') this.#largeCount++;
    void this.#run(parser, job)
      .catch(job.reject)
      .finally(() => this.#dispatch());
    return true;
  }

  async #run(parser: Parser, job: Waiting): Promise<void> {
    const { lane, task, body } = job;
    const answer = await parser.run(lane === 'small' ? asSmall(task) : task, body);
    if (lane === 'large') this.#largeCount--;
    if (typeof answer === 'string') {
      await this.#end(parser);
      return this.#explain(answer, job);
    }
    if (parser.restingBytes > RESIDENT_BYTES_KEPT) await this.#end(parser);
    else this.#idle.push(parser);
    const result = decodeResult(answer);
    if (lane === 'small' && result.outcome === 'refused' && result.why === 'too large')
      this.#wait({ ...job, lane: 'large' });
    else job.resolve(result);
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

/** The next upload; owners take turns. */
function nextOf(line: Line): Waiting | undefined {
  for (const [owner, queue] of line) {
    const job = queue.shift();
    line.delete(owner);
    if (queue.length > 0) line.set(owner, queue);
    return job;
  }
  return undefined;
}
