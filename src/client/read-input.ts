/** Texts that flags name: a file, or `-` for the standard input. */
import { readFileSync, statSync } from 'node:fs';
import { UserError } from '../errors.ts';

const STANDARD_INPUT = 0;

/** Throws a UserError if there is none, or if it is empty. */
export function readInput(file: string): string {
  if (file !== '-' && !statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new UserError(`There is no file ${file}.`);
  const text = readFileSync(file === '-' ? STANDARD_INPUT : file, 'utf8');
  if (text === '') throw new UserError(`${file === '-' ? 'The standard input' : file} is empty.`);
  return text;
}
