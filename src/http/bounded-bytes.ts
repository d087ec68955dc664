/**
 * Reads bytes up to a limit, counted as they arrive: a body without Content-Length, or with a wrong one, cannot evade
 * it.
 */

export type Chunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** The bytes of a request as they were sent. */
export async function* sentBytes(
  request: Request,
  bytesMax: number,
  tooLarge: () => Error,
): AsyncGenerator<Uint8Array> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge();
  yield* boundedBytes(request.body ?? [], bytesMax, tooLarge);
}

export async function* boundedBytes(
  chunks: Chunks,
  bytesMax: number,
  tooLarge: () => Error,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > bytesMax) throw tooLarge();
    yield chunk;
  }
}

/**
 * @param expected how many there probably are: room for them is made once, where lists of pieces would need it twice.
 *   Memory that is not written to is not taken, so it may be too much.
 */
export async function joinedBytes(chunks: AsyncIterable<Uint8Array>, expected = 0): Promise<Uint8Array> {
  const room = new Uint8Array(expected);
  let length = 0;
  const beyond: Uint8Array[] = [];
  for await (const chunk of chunks) {
    if (beyond.length === 0 && length + chunk.length <= room.length) {
      room.set(chunk, length);
      length += chunk.length;
    } else beyond.push(chunk);
  }
  const [only] = beyond;
  if (length === 0 && only && beyond.length === 1) return only;
  return beyond.length === 0 ? room.subarray(0, length) : Buffer.concat([room.subarray(0, length), ...beyond]);
}
