/**
 * How far an import is: a file of JSON lines that only grows, one for each thing that is done. An import that was cut off goes
 * on after its last line. A line that is lost costs nothing but an upload that counts as a duplicate.
 */
import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { z } from 'zod';
import { UserError } from '../../errors.ts';

/** What became of an upload, as its receipt says. */
const outcomeSchema = z.object({
  accepted: z.int(),
  duplicate: z.int(),
  rejected: z.int(),
  conflicting: z.int(),
  rejections: z.array(z.object({ reason: z.string(), count: z.int() })).default([]),
  warnings: z.array(z.string()).default([]),
});
export type Outcome = z.infer<typeof outcomeSchema>;

const headSchema = z.object({ v: z.literal(1), service: z.string(), repository: z.string(), source: z.string() });
export type StateHead = z.infer<typeof headSchema>;

const lineSchema = z.union([
  /** The queue of the service has it. */
  z.object({ key: z.string(), upload: z.string(), name: z.string(), at: z.number() }),
  /** Its receipt was read. */
  z.object({ upload: z.string(), outcome: outcomeSchema }),
  /** It will not be taken. */
  z.object({ key: z.string(), name: z.string(), left_out: z.string() }),
  z.object({ key: z.string(), pull_request: z.int() }),
  /** Nothing of what it names is left to do. */
  z.object({ key: z.string(), done: z.literal(true) }),
]);
export type StateLine = z.infer<typeof lineSchema>;

export class ImportState {
  readonly #done = new Set<string>();
  readonly #descriptor: number;

  private constructor(
    path: string,
    /** What an earlier start has done. */
    readonly before: readonly StateLine[],
  ) {
    for (const line of before) this.#note(line);
    this.#descriptor = openSync(path, 'a');
  }

  /** Throws a {@link UserError} if the file belongs to another import. */
  static open(path: string, head: StateHead): ImportState {
    if (!existsSync(path)) {
      const state = new ImportState(path, []);
      state.#append(head);
      return state;
    }
    const text = readFileSync(path, 'utf8');
    // What was cut off in the middle of its last line.
    const end = text.lastIndexOf('\n') + 1;
    truncateSync(path, Buffer.byteLength(text.slice(0, end)));
    const [first = '{}', ...lines] = text.slice(0, end).split('\n').filter(Boolean);
    if (end > 0) requireSame(path, headSchema.safeParse(JSON.parse(first)).data, head);
    const state = new ImportState(
      path,
      lines.map((line) => lineSchema.parse(JSON.parse(line))),
    );
    if (end === 0) state.#append(head);
    return state;
  }

  isDone(key: string): boolean {
    return this.#done.has(key);
  }

  add(line: StateLine): void {
    this.#append(line);
    this.#note(line);
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  #note(line: StateLine): void {
    if ('key' in line) this.#done.add(line.key);
  }

  #append(line: object): void {
    writeSync(this.#descriptor, `${JSON.stringify(line)}\n`);
  }
}

function requireSame(path: string, found: StateHead | undefined, head: StateHead): void {
  const differs = (['service', 'repository', 'source'] as const).find((part) => found?.[part] !== head[part]);
  if (differs === undefined) return;
  throw new UserError(
    `${path} is the state of another import (${differs}: ${found?.[differs] ?? 'unknown'}, not ${head[differs]}). Delete it, or name another file with --state.`,
  );
}
