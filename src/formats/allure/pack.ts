/**
 * The files of a folder of Allure results as one report: a JSON list of what they hold. A file that does not hold JSON,
 * such as one that a killed process did not write to its end, is named instead, so that it costs no other.
 */
import { UploadTooLarge } from '../errors.ts';

export interface PartFile {
  name: string;
  bytes: Uint8Array;
}

/** Others in the folder are attachments and descriptions of the environment. */
export const isPart = (name: string): boolean => /^[^.].*-(?:result|container)\.json$/.test(name);

/** The service reads no more. */
const PACKED_BYTES_MAX = 200 * 1024 * 1024;

const [OPEN, COMMA, CLOSE] = ['[', ',', ']'].map((text) => Buffer.from(text)) as [Buffer, Buffer, Buffer];

/** On the machine of the job. In the order of their names: the same files are the same report. */
export function packed(files: readonly PartFile[]): Uint8Array {
  const sorted = [...files].sort((a, b) => (a.name < b.name ? -1 : 1));
  const pieces: Uint8Array[] = [OPEN];
  let length = 0;
  for (const [i, file] of sorted.entries()) {
    const bytes = isJson(file.bytes) ? file.bytes : Buffer.from(JSON.stringify({ unreadable: file.name }));
    length += bytes.length;
    if (length > PACKED_BYTES_MAX)
      throw new UploadTooLarge('The results of the folder take more than 200 MiB. Send them as several folders.');
    if (i > 0) pieces.push(COMMA);
    pieces.push(bytes);
  }
  return Buffer.concat([...pieces, CLOSE]);
}

function isJson(bytes: Uint8Array): boolean {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}
