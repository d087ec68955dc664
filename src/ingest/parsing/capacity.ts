/**
 * How many parsers fit beside the API, and how much memory each may take. In a container that is too small for them, the
 * kernel would kill a parser in the middle of an upload, or all of the container.
 */

const MIB = 1024 ** 2;
/** Enough for the largest upload of every format: `tests/nightly/container-memory.test.ts` sends them. */
export const PARSER_BYTES_MAX = 1_664 * MIB;
/** A parser with less could not read an ordinary upload of 100,000 tests. */
const PARSER_BYTES_MIN = 512 * MIB;
/** For everything else that the process does, and for the parser that reads small uploads only. */
export const API_BYTES = 700 * MIB;
const PARSERS_MAX = 4;

export interface ParserCapacity {
  size: number;
  memoryBytesMax: number;
}

interface Room {
  /** The memory of the container, or of the machine if there is no limit. */
  memoryBytes: number;
  processors: number;
  /** How many the operator wants; undefined: as many as fit. */
  parsers?: number | undefined;
}

/** Never more than fit, unless the operator wants more: then each may take less. */
export function parsersFor({ memoryBytes, processors, parsers }: Room): ParserCapacity {
  const room = memoryBytes - API_BYTES;
  // At least two, so that one slow upload does not hold up all others.
  const useful = Math.min(PARSERS_MAX, Math.max(2, processors));
  const size = parsers ?? Math.max(1, Math.min(useful, Math.floor(room / PARSER_BYTES_MAX)));
  const share = Math.floor(room / size);
  return { size, memoryBytesMax: Math.min(PARSER_BYTES_MAX, Math.max(PARSER_BYTES_MIN, share)) };
}

/** A sentence for the operator of a container in which some uploads cannot be read; undefined where all can. */
export function tooSmallFor({ size, memoryBytesMax }: ParserCapacity, memoryBytes: number): string | undefined {
  if (memoryBytesMax >= PARSER_BYTES_MAX) return undefined;
  const needed = API_BYTES + size * PARSER_BYTES_MAX;
  return `The service has ${mib(memoryBytes)} of memory. Uploads that take more than ${mib(memoryBytesMax)} to read are refused with 413; the largest that are allowed need ${mib(needed)}${size > 1 ? `, or fewer parsers than ${size}` : ''}.`;
}

const mib = (bytes: number): string => `${Math.floor(bytes / MIB)} MiB`;
