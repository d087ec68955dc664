/** GitLab: the lines in a section that can be collapsed, and links for the page of the job. */
import { inLog } from '../../domain/foreign-text.ts';
import type { GateResult } from '../gate/result.ts';
import { VERDICT_WORDS } from './words.ts';

const CLEAR = '\u001b[0K';

export function inSection(lines: readonly string[], nowMs: number): string[] {
  const at = Math.floor(nowMs / 1_000);
  return [
    `${CLEAR}section_start:${at}:ci_insights[collapsed=false]\r${CLEAR}ci-insights`,
    ...lines,
    `${CLEAR}section_end:${at}:ci_insights\r${CLEAR}`,
  ];
}

/** For `artifacts:reports:annotations`: a link to the history of each failed test. */
export function annotationsOf({ failures }: GateResult): object {
  const links = failures.flatMap(({ name, verdict, historyUrl }) =>
    historyUrl === null
      ? []
      : [
          {
            external_link: {
              label: `${VERDICT_WORDS[verdict]}: ${inLog(name)}`.slice(0, 255).toWellFormed(),
              url: historyUrl,
            },
          },
        ],
  );
  return { 'Failed tests': links };
}
