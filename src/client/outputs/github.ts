/** Commands to the runner of GitHub Actions: an annotation for each failed test. */
import type { GateResult, JudgedTest } from '../gate/result.ts';
import { exceptionOf, VERDICT_WORDS } from './words.ts';

/** GitHub shows ten errors and ten warnings of a step. */
const OF_A_LEVEL_MAX = 10;

export function githubCommands({ failures }: GateResult): string[] {
  const blocking = failures.filter(({ isExcused }) => !isExcused);
  const excused = failures.filter(({ isExcused }) => isExcused);
  return [
    ...blocking.slice(0, OF_A_LEVEL_MAX).map((test) => commandOf('error', test)),
    ...excused.slice(0, OF_A_LEVEL_MAX).map((test) => commandOf('warning', test)),
  ];
}

function commandOf(level: 'error' | 'warning', test: JudgedTest): string {
  const message = [test.name, exceptionOf(test), test.because, test.historyUrl].filter((part) => part !== null);
  const file = test.sourcePath === null ? '' : `file=${property(test.sourcePath)},`;
  return `::${level} ${file}title=${property(`Failed test, ${VERDICT_WORDS[test.verdict]}`)}::${data(message.join('\n'))}`;
}

/** Escapes what the runner unescapes. */
const data = (text: string): string => text.replace(/%/g, '%25').replace(/\r/g, '%0D').replace(/\n/g, '%0A');
const property = (text: string): string => data(text).replace(/:/g, '%3A').replace(/,/g, '%2C');
