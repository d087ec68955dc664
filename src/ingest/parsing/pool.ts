/**
 * Parses uploads in a few separate processes: a body that takes seconds or gigabytes delays no other request, and a
 * parser that dies takes nothing with it. Processes, because a Worker of Bun has no limit of memory, and ending one may
 * crash the process.
 */
import type { Logger } from '../../observability/log.ts';
import { parsersEnded } from '../../observability/metrics.ts';
import type { ParserCapacity } from './capacity.ts';
import { Parser, type ParserEnd, type ParserLimits } from './parser.ts';
import { asSmall, type ParserTrack, trackOf } from './parser-track.ts';
import { decodeResult, type Parse, type ParseResult, type ParseTask } from './task.ts';

export interface ParserPoolOptions extends ParserCapacity, Partial<Omit<ParserLimits, 'memoryBytesMax'>> {
  log: Logger;
  /** The program of a parser. */
  script?: string;
}

/** The largest upload that is accepted takes about half of it. */
const CPU_SECONDS_MAX = 15;
const SECONDS_MAX = 60;
/** A parser that has grown beyond this is replaced: its memory would not shrink again. */
const RESIDENT_BYTES_KEPT = 200 * 1024 * 1024;

/** For the log. */
const ENDS: Readonly<Record<ParserEnd, string>> = {
  memory: 'an upload took more memory to read than a parser may have',
  'cpu time': 'an upload took more processor time to read than a parser may have',
  time: 'a parser got too little processor time to read an upload',
  died: 'a parser failed at an upload',
  killed: 'the system ended a parser while it read an upload, perhaps because the container had no memory left',
  unstarted: 'a parser ended before it could read anything',
};
/** Ends that say nothing about the upload: another parser may read it. */
const OF_THE_MACHINE: ReadonlySet<ParserEnd> = new Set(['killed', 'unstarted', 'time']);

interface Waiting {
  task: ParseTask;
  body: Uint8Array;
  resolve(result: ParseResult): void;
  reject(error: unknown): void;
  track: ParserTrack;
  /** A parser has died while it read it, so it is read for the second time. */
  isRepeated: boolean;
}

/** The uploads of one track that wait: by owner, in the order of their turns. */
type Line = Map<string, Waiting[]>;

export class ParserPool {
  readonly #limits: ParserLimits;
  readonly #script: string | undefined;
  readonly #size: number;
  readonly #log: Logger;
  readonly #parsers = new Set<Parser>();
  readonly #idle: Parser[] = [];
  readonly #waiting: Record<ParserTrack, Line> = { small: new Map(), large: new Map() };
  /** How many parsers read large uploads: at most `size`. For small ones there is one more. */
  #largeCount = 0;
  #isClosed = false;

  constructor({ log, script, size, ...limits }: ParserPoolOptions) {
    this.#limits = { cpuSecondsMax: CPU_SECONDS_MAX, secondsMax: SECONDS_MAX, ...limits };
    this.#log = log;
    this.#script = script;
    this.#size = size;
  }

  readonly parse: Parse = (task, body) =>
    new Promise((resolve, reject) => {
      this.#wait({ task, body, resolve, reject, track: trackOf(task, body), isRepeated: false });
      this.#dispatch();
    });

  /** Ends the parsers; call it when no request is being answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#parsers].map((parser) => parser.stop()));
  }

  /** Parsers are started when they are needed, and only then replaced. */
  #start(): Parser {
    const onDeath = (printed: string): void => {
      if (!this.#isClosed) this.#log.error({ printed: printed.slice(-2_000) }, 'a parser reported an error');
    };
    const parser = new Parser(this.#limits, onDeath, this.#script);
    this.#parsers.add(parser);
    return parser;
  }

  async #end(parser: Parser): Promise<void> {
    await parser.stop();
    this.#parsers.delete(parser);
  }

  #wait(job: Waiting): void {
    const { owner } = job.task.repository;
    const line = this.#waiting[job.track];
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

  /** Whether an upload of the track has begun. */
  #serve(track: ParserTrack): boolean {
    const line = this.#waiting[track];
    const isFull = this.#largeCount >= this.#size;
    if (line.size === 0 || (track === 'large' && isFull)) return false;
    const sizeMax = isFull ? this.#size + 1 : this.#size;
    const parser = this.#living() ?? (this.#parsers.size < sizeMax ? this.#start() : undefined);
    const job = parser && nextOf(line);
    if (!job) return false;
    if (track === 'large') this.#largeCount++;
    void this.#run(parser, job)
      .catch(job.reject)
      .finally(() => this.#dispatch());
    return true;
  }

  /** An idle parser. Those that were killed meanwhile are dropped: no upload is the cause. */
  #living(): Parser | undefined {
    for (let parser = this.#idle.pop(); parser; parser = this.#idle.pop()) {
      if (!parser.hasEnded) return parser;
      this.#parsers.delete(parser);
    }
    return undefined;
  }

  async #run(parser: Parser, job: Waiting): Promise<void> {
    const { track, task, body } = job;
    const answer = await parser.run(track === 'small' ? asSmall(task) : task, body);
    if (track === 'large') this.#largeCount--;
    if (typeof answer === 'string') {
      await this.#end(parser);
      return this.#explain(answer, job);
    }
    if (parser.restingBytes > RESIDENT_BYTES_KEPT) await this.#end(parser);
    else this.#idle.push(parser);
    const result = decodeResult(answer);
    if (track === 'small' && result.outcome === 'refused' && result.why === 'too large')
      this.#wait({ ...job, track: 'large' });
    else job.resolve(result);
  }

  #explain(end: ParserEnd, job: Waiting): void {
    const { repository, input } = job.task;
    this.#log.warn({ ...repository, input: input.kind, bytes: job.body.length, end }, ENDS[end]);
    parsersEnded.inc({ reason: end });
    const isWorthRepeating = end === 'killed' || end === 'died' || end === 'unstarted';
    if (isWorthRepeating && !job.isRepeated) this.#wait({ ...job, isRepeated: true });
    else if (OF_THE_MACHINE.has(end)) job.resolve({ outcome: 'interrupted' });
    else job.resolve({ outcome: 'refused', ...this.#refusalOf(end) });
  }

  #refusalOf(end: ParserEnd): { why: 'invalid' | 'too large'; sentence: string } {
    const { memoryBytesMax, cpuSecondsMax } = this.#limits;
    if (end === 'died')
      return {
        why: 'invalid',
        sentence: 'The upload cannot be read: its parser ended unexpectedly, twice. The service has logged it.',
      };
    const what =
      end === 'memory'
        ? `takes more than ${Math.round(memoryBytesMax / 1024 ** 2)} MiB of memory`
        : `takes longer than ${cpuSecondsMax} s`;
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
