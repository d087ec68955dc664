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

export async function joinedBytes(chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const list: Uint8Array[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return list.length === 1 && list[0] ? list[0] : Buffer.concat(list);
}
