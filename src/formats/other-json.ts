/** Tells JSON documents of another kind from reports. */
import { asUtf8 } from './utf8.ts';

/** Whether the body is a JSON document, or one in each line, and none is part of a report. */
export function isOtherJson(body: Uint8Array, isOfReport: (value: unknown) => boolean): boolean {
  const text = new TextDecoder().decode(asUtf8(body, { noticeReplaced: () => {} })).trim();
  if (text === '') return false;
  const whole = parsed(text);
  if (whole) return !isOfReport(whole.value);
  return text.split('\n').every((line) => {
    const read = line.trim() === '' ? { value: null } : parsed(line);
    return read !== null && !isOfReport(read.value);
  });
}

function parsed(text: string): { value: unknown } | null {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}
