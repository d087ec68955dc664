/** Reads JSON from elsewhere. Undefined if it is none, so that a schema refuses it together with all else that does not fit. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
