/** Answers of HTTP/1.1 in what a connection received. */

export interface Answer {
  status: number;
  bytes: number;
}

const decoder = new TextDecoder('latin1');

/** The first answer in what was received; undefined until it is complete. `rest` is what follows it. */
export function answerIn(received: Uint8Array): (Answer & { rest: Uint8Array }) | undefined {
  const headEnd = Buffer.from(received.buffer, received.byteOffset, received.byteLength).indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = decoder.decode(received.subarray(0, headEnd));
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  if (length === undefined) throw new Error(`an answer without Content-Length: ${head.slice(0, 200)}`);
  const bytes = headEnd + 4 + Number(length);
  if (received.byteLength < bytes) return undefined;
  return { status: Number(head.slice(9, 12)), bytes, rest: received.subarray(bytes) };
}
