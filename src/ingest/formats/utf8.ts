/** Converts text to UTF-8: Windows PowerShell writes redirected output (`> report.json`) as UTF-16. */

export function asUtf8(body: Uint8Array): Uint8Array {
  if (body[0] === 0xff && body[1] === 0xfe) return new TextEncoder().encode(new TextDecoder('utf-16le').decode(body));
  if (body[0] === 0xfe && body[1] === 0xff) return new TextEncoder().encode(new TextDecoder('utf-16be').decode(body));
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.subarray(3) : body;
}

/** For messages such as "is cut short at line 12". */
export function lineAt(body: Uint8Array, offset: number): number {
  let line = 1;
  for (let at = body.indexOf(NEWLINE); at >= 0 && at < offset; at = body.indexOf(NEWLINE, at + 1)) line++;
  return line;
}

export const NEWLINE = 0x0a;
