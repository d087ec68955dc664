/** How commands print: tables for people, JSON for machines, always on standard output. */
import { writeSync } from 'node:fs';
import { eastAsianWidth } from 'get-east-asian-width';
import { inLog, jsonInLog, linesInLog } from '../domain/foreign-text.ts';
import { grouped } from '../domain/grouped-number.ts';

const STANDARD_OUTPUT = 1;
const STANDARD_ERROR = 2;

/** Whatever is in it, no line of it commands the CI runner or the terminal. */
export const print = (text: string): void => writeTo(STANDARD_OUTPUT, linesInLog(text));

/** For what is not the result: it does not get into the way of `--json`. */
export const printError = (text: string): void => writeTo(STANDARD_ERROR, linesInLog(text));

/** For lines with our commands: colours, sections, annotations. What is foreign in them must have been made safe. */
export const printCommand = (line: string, isForMachines = false): void =>
  writeTo(isForMachines ? STANDARD_ERROR : STANDARD_OUTPUT, line);

/** Lines for another program, as they are: what follows from foreign text is for that program to see to. */
export const printExactly = (lines: readonly string[]): void => {
  if (lines.length > 0) writeTo(STANDARD_OUTPUT, lines.join('\n'));
};

/** Written synchronously and whole: the process exits after its last line, and a pipe buffers only 64 KiB. */
function writeTo(descriptor: number, line: string): void {
  const bytes = Buffer.from(`${line}\n`);
  try {
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written);
  } catch (error) {
    // A reader that has seen enough (`| head`) is not an error.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPIPE')) throw error;
  }
}

export const printJson = (value: unknown): void => writeTo(STANDARD_OUTPUT, jsonInLog(value));

/** Columns padded to their widest cell, without trailing blanks. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [header, ...rows].map((row) => row.map(inLog));
  const widths = header.map((_, column) => Math.max(...lines.map((row) => widthOf(row[column] ?? ''))));
  return lines
    .map((row) =>
      row
        .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** In columns of a terminal. Marks that join the character before them count as one, which few names have. */
const widthOf = (text: string): number =>
  [...text].reduce((sum, character) => sum + eastAsianWidth(character.codePointAt(0) ?? 0), 0);

/** `1 report`, `2 reports`, `1,000 reports`. */
export const count = (number: number, noun: string): string => `${grouped(number)} ${noun}${number === 1 ? '' : 's'}`;

/** To the second, in UTC; `-` for never. */
export function formatTime(time: Date | null): string {
  return time ? time.toISOString().replace(/\.\d+Z$/, 'Z') : '-';
}
