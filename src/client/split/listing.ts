/** The names that a shard is to share: from the command after `--`, or from standard input, one a line. */
import { spawn } from 'node:child_process';
import { isAbsolute, relative } from 'node:path';
import type { SplitBy } from '../../domain/split-names.ts';
import { UserError } from '../../errors.ts';

/** A list beyond this is a mistake, such as a log. */
const LIST_BYTES_MAX = 64 * 1024 * 1024;

export interface ListingFlags {
  by: SplitBy;
  /** Only lines that hold this text are names. */
  containing?: string;
}

/** By how the service is asked about it: the lines as they are listed. */
export type Listing = ReadonlyMap<string, readonly string[]>;

/** Throws a {@link UserError} if the list is not whole, or empty: a shard that runs nothing passes. */
export async function readListing(
  wrapped: readonly string[],
  { by, containing = '' }: ListingFlags,
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Listing> {
  const bytes = wrapped.length > 0 ? await outputOf(wrapped, variables) : await standardInput();
  const lines = textOf(bytes)
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line.trim() !== '' && line.includes(containing));
  if (lines.length === 0)
    throw new UserError(
      `There is nothing to split: ${containing === '' ? 'the list is empty' : `no line of the list holds ${JSON.stringify(containing)}`}.`,
    );
  const listing = new Map<string, string[]>();
  for (const line of lines) {
    const name = by === 'file' ? withinFolder(line) : line;
    listing.set(name, [...(listing.get(name) ?? []), line]);
  }
  return listing;
}

/** Machines may have their working copies at different paths. */
function withinFolder(path: string): string {
  if (!isAbsolute(path)) return path;
  const inner = relative(process.cwd(), path);
  return inner === '' || inner.startsWith('..') || isAbsolute(inner) ? path : inner;
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new UserError('The list is not UTF-8: its names could not be printed as they are.');
  }
}

function standardInput(): Promise<Uint8Array> {
  if (process.stdin.isTTY)
    throw new UserError('There is nothing to split: send names to standard input, or write a command after --.');
  return collected(process.stdin);
}

async function collected(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stream) {
    size += part.byteLength;
    if (size > LIST_BYTES_MAX) throw new UserError('The list is longer than 64 MiB.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** A command that fails may have listed only some of its tests. */
async function outputOf(
  [program = '', ...args]: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): Promise<Uint8Array> {
  const child = spawn(program, args, { stdio: ['inherit', 'pipe', 'inherit'], env: { ...variables } });
  const ended = new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(`cannot be run: ${error.message}`));
    child.on('close', (code, signal) =>
      resolve(code === 0 ? undefined : `ended with ${signal === null ? `exit code ${code}` : signal}`),
    );
  });
  const [output, trouble] = await Promise.all([
    // A program that does not start closes its output in the middle, for Bun.
    collected(child.stdout).catch((error: unknown) => {
      child.kill();
      if (error instanceof UserError) throw error;
      return undefined;
    }),
    ended,
  ]);
  if (trouble === undefined && output !== undefined) return output;
  throw new UserError(`Nothing is split, because ${program} ${trouble ?? 'closed its output'}.`);
}
