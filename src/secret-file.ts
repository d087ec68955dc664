/** Secrets that are mounted as files, so that they stand in no environment. */
import { readFileSync } from 'node:fs';
import { UserError } from './errors.ts';

/**
 * Without white space around it. Throws a {@link UserError}, which never holds the content.
 *
 * @param variable that names the file, for messages
 */
export function readSecretFile(variable: string, file: string): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new UserError(`${variable} names ${file}, which cannot be read.`, { cause });
  }
  if (text === '') throw new UserError(`${variable} names ${file}, which is empty.`);
  return text;
}
