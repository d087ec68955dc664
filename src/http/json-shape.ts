/**
 * How deep JSON nests and how many values it holds, counted on its bytes before anything is parsed: a parser makes an
 * object of each value, and follows each level.
 */
interface ShapeLimits {
  depthMax: number;
  valuesMax: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSES: ReadonlySet<number> = new Set([0x5d, 0x7d]);
const BACKSLASH = 0x5c;

/** The limit that the text exceeds; undefined if none. It need not be JSON. */
export function excessOf(json: Uint8Array, { depthMax, valuesMax }: ShapeLimits): 'depth' | 'values' | undefined {
  let depth = 0;
  // Each value but the first of its array follows a comma or opens a level.
  let values = 1;
  for (let i = 0; i < json.length; i++) {
    const byte = json[i] ?? 0;
    if (byte === QUOTE) i = endOfText(json, i + 1);
    else if (byte === COMMA) values++;
    else if (OPENS.has(byte)) {
      values++;
      if (++depth > depthMax) return 'depth';
    } else if (CLOSES.has(byte)) depth--;
    if (values > valuesMax) return 'values';
  }
  return undefined;
}

/** Where the closing quote is. */
function endOfText(json: Uint8Array, from: number): number {
  for (let i = from; i < json.length; i++) {
    if (json[i] === QUOTE) return i;
    if (json[i] === BACKSLASH) i++;
  }
  return json.length;
}
