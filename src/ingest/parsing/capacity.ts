/**
 * How many parsers fit beside the API, and how much memory each may take. In a container that is too small for them, the
 * kernel would kill a parser in the middle of an upload, or all of the container.
 */

const MIB = 1024 ** 2;
/** The largest upload that is accepted takes about a third of it. */
export const PARSER_BYTES_MAX = 1_536 * MIB;
/** A parser with less could not read the largest upload. */
const PARSER_BYTES_MIN = 512 * MIB;
/** For everything else that the process does. */
export const API_BYTES = 700 * MIB;
const PARSERS_MAX = 4;

export interface ParserCapacity {
  size: number;
  memoryBytesMax: number;
}

/** @param memoryBytes of the container; of the machine if there is no limit; 0 if that is not known */
export function parsersFor(memoryBytes: number, processors: number): ParserCapacity {
  // At least two, so that one slow upload does not hold up all others.
  const wanted = Math.min(PARSERS_MAX, Math.max(2, processors));
  if (memoryBytes <= 0) return { size: wanted, memoryBytesMax: PARSER_BYTES_MAX };
  const room = memoryBytes - API_BYTES;
  const fitting = Math.floor(room / PARSER_BYTES_MAX);
  if (fitting >= 1) return { size: Math.min(wanted, fitting), memoryBytesMax: PARSER_BYTES_MAX };
  return { size: 1, memoryBytesMax: Math.max(room, PARSER_BYTES_MIN) };
}
