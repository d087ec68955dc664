/** The result of `gate` as Markdown, for job summaries and annotations. Names of tests are text, never markup. */

import { attachmentTitle } from '../../domain/attachments.ts';
import { inMarkdown } from '../../domain/foreign-text.ts';
import { grouped } from '../../domain/grouped-number.ts';
import type { GateResult, JudgedTest } from '../gate/result.ts';
import { countSentence, exceptionOf, ownedBy, resultSentence, VERDICT_WORDS } from './words.ts';

/** GitHub takes 1 MiB for a step, Buildkite as much for an annotation. */
const ROWS_MAX = 200;
const NAME_LENGTH_MAX = 500;
const LINKS_LENGTH_MAX = 1_500;

export function markdownOf(result: GateResult): string {
  const { failures, decision, troubles, notices } = result;
  const rows = failures.slice(0, ROWS_MAX).map(rowOf);
  const more = failures.length - rows.length;
  return [
    `### ${decision.code === 0 ? '✅' : '❌'} ${resultSentence(result)}`,
    '',
    ...(result.summary === null ? [] : [result.summary, '']),
    countSentence(result),
    ...(rows.length > 0 ? ['', '| verdict | test | failure |', '|---|---|---|', ...rows] : []),
    ...(more > 0 ? ['', `${grouped(more)} more are in the log of the job.`] : []),
    ...[...troubles, ...notices].flatMap((sentence) => ['', `> ${inMarkdown(sentence)}`]),
    '',
  ].join('\n');
}

function rowOf(test: JudgedTest): string {
  const name = inMarkdown(cut(test.name));
  const why = [exceptionOf(test), test.because, test.where, ownedBy(test)]
    .filter((part) => part !== null)
    .map(inMarkdown);
  const links = linksOf(test);
  const word = VERDICT_WORDS[test.verdict];
  return `| ${test.isExcused ? word : `**${word}**`} | ${test.historyUrl === null ? name : `[${name}](${test.historyUrl})`} | ${[...why, ...(links === '' ? [] : [links])].join('<br>')} |`;
}

/** Leaves out those for which there is no room; they are on the page of the test. */
function linksOf({ attachments }: JudgedTest): string {
  let links = '';
  for (const attachment of attachments) {
    const link = `[${inMarkdown(attachmentTitle(attachment))}](${inLink(attachment.url)})`;
    if (links.length + link.length <= LINKS_LENGTH_MAX) links += links === '' ? link : ` ${link}`;
  }
  return links;
}

/** Nothing in an address ends the link or the cell. */
const inLink = (url: string): string => url.replace(/[()|\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);

const cut = (name: string): string =>
  name.length > NAME_LENGTH_MAX ? `${name.slice(0, NAME_LENGTH_MAX).toWellFormed()}…` : name;
