/**
 * The message of a test that `rebot --merge` put together from several runs: the newest comes first, as HTML. The
 * message is all that is left of the others.
 */
import type { Status } from '../../domain/status.ts';

export interface MergedRun {
  status: Status;
  message: string;
}

const HEADER = /^\*HTML\* <span class="merge">Test has been re-executed and results merged\.<\/span><hr>/;
const RUN =
  /^<span class="(?:new|old)-status">(?:New|Old) status:<\/span> <span class="(pass|fail|skip)">\w+<\/span><br>(?:<span class="(?:new|old)-message">(?:New|Old) message:<\/span> )?/;
const STATUSES: ReadonlyMap<string, Status> = new Map([
  ['pass', 'passed'],
  ['fail', 'failed'],
  ['skip', 'skipped'],
]);
/** A test is rerun a few times. */
const RUNS_MAX = 100;

/** The runs of a test, from the first to the last; empty if the test was not merged. */
export function mergedRuns(message: string): MergedRun[] {
  const header = HEADER.exec(message);
  if (!header) return [];
  const runs: MergedRun[] = [];
  for (const section of message.slice(header[0].length).split('<hr>', RUNS_MAX)) {
    const [head = '', word = ''] = RUN.exec(section) ?? [];
    const status = STATUSES.get(word);
    if (status) runs.unshift({ status, message: textOf(section.slice(head.length)) });
  }
  return runs;
}

const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&amp;': '&' };

const textOf = (html: string): string =>
  html.replace(/<br>$/, '').replace(/&(?:lt|gt|amp);/g, (entity) => ENTITIES[entity] ?? entity);
