/** Commands to the runner of GitHub Actions: an annotation for each failed test. */
import { inGithubMessage, inGithubProperty } from '../../domain/foreign-text.ts';
import type { GateResult, JudgedTest } from '../gate/result.ts';
import { exceptionOf, ownedBy, VERDICT_WORDS } from './words.ts';

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
  const message = [test.name, exceptionOf(test), test.because, test.where, ownedBy(test), test.historyUrl].filter(
    (part) => part !== null,
  );
  const file = test.sourcePath === null ? '' : `file=${inGithubProperty(test.sourcePath)},`;
  return `::${level} ${file}title=${inGithubProperty(`Failed test, ${VERDICT_WORDS[test.verdict]}`)}::${inGithubMessage(message)}`;
}
