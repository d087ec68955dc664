/**
 * The text of the comment on a pull request: what failed in one sentence, then the failures by cause, each with what is
 * claimed, what speaks for and against that, and what to do. Markdown that GitHub and GitLab show alike. Whatever a test is
 * called, it is text there: it mentions no one and links nowhere. Bounded. Pure.
 */
import type { ClaimVerdict } from './change-claim.ts';
import { CLAIM_VERDICT_WORDS, claimPercent } from './claim-verdict-words.ts';
import type { CommitVerdict } from './commit-verdict.ts';
import { inCode, inMarkdown } from './foreign-text.ts';
import { grouped } from './grouped-number.ts';
import { cutMiddle } from './told-text.ts';

interface CommentedClaim {
  verdict: ClaimVerdict;
  /** That the change caused the failure. */
  probability: number;
  /** Sentences, the strongest first. */
  for: readonly string[];
  against: readonly string[];
  /** What would decide; null if it is decided. */
  needs: string | null;
}

export interface CommentedFailure {
  testName: string;
  jobName: string;
  verdict: CommitVerdict;
  claim: CommentedClaim;
  owners: readonly string[];
  /** Such as `AssertionError: expected 3 to equal 4`; null if the report does not say. */
  message: string | null;
  /** What it has in common with others of the default branch; null if nothing there failed like it. */
  cause: { id: string; url: string } | null;
  /** The page of the test. */
  url: string;
}

export interface CommentedCommit {
  commit: string;
  /** The page of the commit. */
  url: string;
  /** The sentence about its failures (failures-in-words.ts). */
  summary: string;
  /** What needs attention comes first. */
  failures: readonly CommentedFailure[];
  /** Failed tests, of which `failures` may be the first. */
  total: number;
  /** CI jobs that ran far fewer tests than usual. */
  fewerTests: number;
}

/** What a failure says of itself: its type and message, the type once. Null if its report says neither. */
export function saidOf(type: string | null | undefined, message: string | null | undefined): string | null {
  const said = [type, message].filter(Boolean);
  return said.length === 0 ? null : message?.startsWith(type ?? '') ? message : said.join(': ');
}

/** Bitbucket takes 32,768 characters, GitHub 65,536. */
export const COMMENT_LENGTH_MAX = 32_000;
const CAUSES_MAX = 10;
const TESTS_MAX = 5;
const REASONS_MAX = 3;
const NAME_MAX = 200;
const MESSAGE_MAX = 300;
const SENTENCE_MAX = 300;
const OWNERS_MAX = 5;
const COMMIT_MAX = 12;
/** The last lines fit, however long the addresses are. */
const END_LENGTH_MAX = 2_000;

/** Never longer than {@link COMMENT_LENGTH_MAX}. */
export function commentText(commit: CommentedCommit): string {
  const { failures, total, url } = commit;
  if (total === 0) return allClear(commit);
  const causes = byCause(failures);
  const head = `### ${inMarkdown(commit.summary)}\n\nCommit ${link(shortCommit(commit), url)}.${fewerInWords(commit)}`;
  const blocks = [head];
  let length = head.length;
  let shown = 0;
  for (const cause of causes.slice(0, CAUSES_MAX)) {
    const block = blockOf(cause);
    length += block.length + 2;
    if (length > COMMENT_LENGTH_MAX - END_LENGTH_MAX) break;
    blocks.push(block);
    shown += cause.length;
  }
  const more = total - shown;
  if (more > 0) blocks.push(`${link(`${grouped(more)} more ${more === 1 ? 'failure' : 'failures'}`, url)}`);
  return blocks.join('\n\n').slice(0, COMMENT_LENGTH_MAX);
}

/** Other CI jobs of the commit may still run. */
const allClear = (commit: CommentedCommit): string =>
  `### All clear: nothing has failed so far\n\nCommit ${link(shortCommit(commit), commit.url)}. What failed before passes now, or did not run.${fewerInWords(commit)}`;

const shortCommit = ({ commit }: CommentedCommit): string => inCode(commit.slice(0, COMMIT_MAX), COMMIT_MAX);

const fewerInWords = ({ fewerTests: jobs }: CommentedCommit): string =>
  jobs === 0
    ? ''
    : ` ${grouped(jobs)} CI ${jobs === 1 ? 'job' : 'jobs'} ran far fewer tests than usual, so this may not be all.`;

type Cause = readonly [CommentedFailure, ...CommentedFailure[]];

/** Failures that say the same of themselves, and of which the same is said. In the order of their first ones. */
function byCause(failures: readonly CommentedFailure[]): Cause[] {
  const causes = new Map<string, [CommentedFailure, ...CommentedFailure[]]>();
  for (const failure of failures) {
    const { cause, message, testName, verdict, claim } = failure;
    const key = JSON.stringify([verdict, claim.verdict, cause?.id ?? null, cause ? null : (message ?? [testName])]);
    const known = causes.get(key);
    if (known) known.push(failure);
    else causes.set(key, [failure]);
  }
  return [...causes.values()];
}

function blockOf(cause: Cause): string {
  const [first] = cause;
  const { claim, verdict, message } = first;
  const about = first.cause ? ` (${link('cause', first.cause.url)})` : '';
  const said = message === null ? '' : `: ${inCode(message, MESSAGE_MAX)}`;
  const owners = [...new Set(cause.flatMap((failure) => failure.owners))].slice(0, OWNERS_MAX);
  return [
    `**${CLAIM_VERDICT_WORDS[claim.verdict]}** (${claimPercent(claim.probability)} that the change caused it), ${VERDICT_WORDS[verdict]}${said}${about}`,
    '',
    ...cause.slice(0, TESTS_MAX).map(testLine),
    ...(cause.length > TESTS_MAX ? [`- ${grouped(cause.length - TESTS_MAX)} more tests`] : []),
    ...reasonLines('For', claim.for),
    ...reasonLines('Against', claim.against),
    ...(owners.length === 0 ? [] : [`- *Owned by* ${owners.map((owner) => inCode(owner, NAME_MAX)).join(', ')}`]),
    `- *What to do*: ${whatToDo(first)}`,
  ].join('\n');
}

const testLine = ({ testName, jobName, url }: CommentedFailure): string =>
  `- ${link(inCode(testName, NAME_MAX), url)} in ${inCode(jobName, NAME_MAX)}`;

const reasonLines = (side: string, sentences: readonly string[]): string[] =>
  sentences.slice(0, REASONS_MAX).map((sentence) => `- *${side}*: ${sentenceOf(sentence)}`);

const sentenceOf = (sentence: string): string => inMarkdown(cutMiddle(sentence, SENTENCE_MAX));

const VERDICT_WORDS: Readonly<Record<CommitVerdict, string>> = {
  new: 'new',
  broken: 'broken on the default branch',
  known_flaky: 'known to be flaky',
  infrastructure: 'infrastructure',
  quarantined: 'quarantined',
};

function whatToDo({ verdict, claim }: CommentedFailure): string {
  if (verdict === 'quarantined') return 'nothing, the quarantine excuses it.';
  switch (claim.verdict) {
    case 'change':
      return 'fix it in this pull request.';
    case 'broken':
      return 'nothing here. When the default branch is fixed, update the branch.';
    case 'flaky':
      return 'run the CI job again. If it stands in the way, quarantine it.';
    case 'infrastructure':
      return 'run the CI job again.';
    default:
      return claim.needs === null ? 'run the CI job again, to learn more.' : sentenceOf(claim.needs);
  }
}

/** Nothing in an address ends the link. @param text Markdown */
const link = (text: string, url: string): string => `[${text}](${addressIn(url)})`;

const addressIn = (url: string): string =>
  url.replace(/[()<>\\\s`|]/g, (sign) => `%${sign.charCodeAt(0).toString(16).padStart(2, '0')}`);
