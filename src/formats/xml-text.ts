/** Decodes an XML body piece by piece, in the encoding that it declares. */
import { isUtf8 } from 'node:buffer';
import { InvalidUpload } from './errors.ts';
import type { Report } from './report.ts';
import { utf16Of } from './utf8.ts';

const PIECE_BYTES = 64 * 1024;

/**
 * UTF-8 unless a byte order mark, the first two bytes or the XML declaration say otherwise. Bytes that are not of the
 * encoding become U+FFFD, which the report notices. Throws InvalidUpload for an unknown encoding.
 */
export function* decodedPieces(body: Uint8Array, report: Pick<Report, 'noticeReplaced'>): Generator<string> {
  const decoder = decoderOf(body);
  const isValid = decoder.encoding === 'utf-8' && isUtf8(body);
  for (let start = 0; start <= body.length; start += PIECE_BYTES) {
    const isLast = start + PIECE_BYTES > body.length;
    const piece = decoder.decode(body.subarray(start, start + PIECE_BYTES), { stream: !isLast });
    if (!isValid && piece.includes('\uFFFD')) report.noticeReplaced(decoder.encoding);
    yield piece;
  }
}

function decoderOf(body: Uint8Array): TextDecoder {
  const utf16 = utf16Of(body);
  if (utf16 !== null) return new TextDecoder(utf16);
  const head = new TextDecoder('latin1').decode(body.subarray(0, 200));
  const declared = /^(?:\xef\xbb\xbf)?<\?xml[^>]*\sencoding\s*=\s*["']([^"']{1,50})["']/.exec(head)?.[1];
  // We could read the declaration byte by byte, so UTF-16 cannot be true.
  if (declared === undefined || /^utf-?16/i.test(declared)) return new TextDecoder();
  try {
    return new TextDecoder(declared.trim() as ConstructorParameters<typeof TextDecoder>[0]);
  } catch (cause) {
    throw new InvalidUpload(
      `The report declares the encoding "${declared}", which is not known. Write it in UTF-8, and declare that.`,
      { cause },
    );
  }
}
