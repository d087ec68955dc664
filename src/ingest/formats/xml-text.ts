/** Decodes an XML body piece by piece, in the encoding that it declares. */

const PIECE_BYTES = 64 * 1024;

/** UTF-8 unless a byte order mark or the XML declaration says otherwise; bytes that are not text become U+FFFD. */
export function* decodedPieces(body: Uint8Array): Generator<string> {
  const decoder = decoderOf(body);
  for (let start = 0; start < body.length; start += PIECE_BYTES)
    yield decoder.decode(body.subarray(start, start + PIECE_BYTES), { stream: true });
  yield decoder.decode();
}

function decoderOf(body: Uint8Array): TextDecoder {
  if (body[0] === 0xff && body[1] === 0xfe) return new TextDecoder('utf-16le');
  if (body[0] === 0xfe && body[1] === 0xff) return new TextDecoder('utf-16be');
  const head = new TextDecoder('latin1').decode(body.subarray(0, 200));
  const declared = /^(?:\xef\xbb\xbf)?<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']/.exec(head)?.[1];
  // We could read the declaration byte by byte, so UTF-16 cannot be true.
  if (declared === undefined || /^utf-?16/i.test(declared)) return new TextDecoder();
  try {
    return new TextDecoder(declared as Bun.Encoding);
  } catch {
    return new TextDecoder();
  }
}
