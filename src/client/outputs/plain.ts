/** The lines of `gate` for people, on any terminal and in any log. */

import { attachmentTitle } from '../../domain/attachments.ts';
import { inLog } from '../../domain/foreign-text.ts';
import type { GateResult, JudgedTest } from '../gate/result.ts';
import { countSentence, exceptionOf, ownedBy, resultSentence, VERDICT_WORDS } from './words.ts';

/** Escape sequences, or nothing where there is no terminal. */
export interface Palette {
  blocking: string;
  excused: string;
  faint: string;
  end: string;
}
export const COLOURS: Palette = { blocking: '\u001b[31m', excused: '\u001b[33m', faint: '\u001b[2m', end: '\u001b[0m' };
export const NO_COLOURS: Palette = { blocking: '', excused: '', faint: '', end: '' };

const WIDTH = Math.max(...Object.values(VERDICT_WORDS).map((word) => word.length));
const INDENT = ' '.repeat(WIDTH + 4);

export function plainLines(result: GateResult, palette: Palette): string[] {
  return [
    ...result.troubles.map(inLog),
    ...result.failures.flatMap((test) => linesOf(test, palette)),
    ...result.notices.map(inLog),
    countSentence(result),
    ...(result.summary === null ? [] : [result.summary]),
    `${result.decision.code === 0 ? '' : palette.blocking}${resultSentence(result)}${result.decision.code === 0 ? '' : palette.end}`,
  ];
}

function linesOf(test: JudgedTest, { blocking, excused, faint, end }: Palette): string[] {
  const word = VERDICT_WORDS[test.verdict].padEnd(WIDTH);
  const exception = exceptionOf(test);
  const owned = ownedBy(test);
  return [
    `  ${test.isExcused ? excused : blocking}${word}${end}  ${inLog(test.name)}`,
    ...(exception === null ? [] : [`${INDENT}${inLog(exception)}`]),
    ...(test.because === null ? [] : [`${INDENT}${faint}${inLog(test.because)}${end}`]),
    ...(test.where === null ? [] : [`${INDENT}${faint}${inLog(test.where)}${end}`]),
    ...(owned === null ? [] : [`${INDENT}${faint}${owned}${end}`]),
    ...test.attachments.map((one) => `${INDENT}${faint}${inLog(`${attachmentTitle(one)} ${one.url}`)}${end}`),
    ...(test.historyUrl === null ? [] : [`${INDENT}${faint}${inLog(test.historyUrl)}${end}`]),
  ];
}
