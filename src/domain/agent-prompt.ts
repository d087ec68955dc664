/**
 * A test, a cause or a failure of a commit as a prompt for a coding agent: what failed, how often, where it began, and where
 * to read more. Bounded in tokens. Whatever tests, commits or people told the service stands between marks, so that an
 * instruction hidden in a message does not look like ours (told-text.ts). Pure: the API, an MCP server and the command line
 * make the same text.
 */
import { cutMiddle, FENCE_NOTE, fence, tokensOf, withinTokens } from './told-text.ts';

export const PROMPT_TOKENS_MAX = 2_000;
/** Of each kind of told text. Together with our own words they fit into {@link PROMPT_TOKENS_MAX}. */
const TOKENS = { name: 160, message: 160, stack: 500, short: 40, link: 90 } as const;
const GROUPS_MAX = 3;
const NAMES_MAX = 4;

/** A failed attempt. Moments are ISO 8601. */
export interface PromptFailure {
  exceptionType: string;
  exceptionMessage: string;
  stack: string | null;
  failedAt: string;
  /** The CI job and its axes in words. */
  leg: string | null;
  branch: string | null;
  commit: string | null;
  pullRequest: number | null;
  author: string | null;
  file: string | null;
  line: number | null;
}

/** Between which commits something began: it passed on one, and failed on the other. */
interface PromptBeginning {
  passedCommit: string | null;
  failedCommit: string | null;
  /** Passes and failures on that very commit: no change is to blame. */
  isSameCommit: boolean;
}

interface PromptLinks {
  /** The page of the service, and the address of the API that has more. */
  page: string;
  more: string;
  /** On the repository's host; null where it is not known. */
  file: string | null;
  commit: string | null;
  compare: string | null;
}

interface Common {
  /** Such as `acme/shop`. */
  repository: string;
  failure: PromptFailure | null;
  beginning: PromptBeginning | null;
  owners: readonly string[];
  links: PromptLinks;
}

export interface TestPrompt extends Common {
  kind: 'test';
  testName: string;
  health: 'healthy' | 'flaky' | 'broken';
  /** Between 0 and 1; null: not judged yet. */
  probability: number | null;
  /** Figures of the default branch in the last 30 UTC days. */
  executions: number;
  failed: number;
  groups: readonly { exceptionType: string; exceptionMessage: string; failures: number; lastAt: string }[];
}

export interface CausePrompt extends Common {
  kind: 'cause';
  failures: number;
  tests: readonly { name: string; failures: number }[];
  testCount: number;
  legCount: number;
  firstAt: string;
  lastAt: string;
}

export interface CommitFailurePrompt extends Common {
  kind: 'commit failure';
  testName: string;
  verdict: 'new' | 'broken' | 'known_flaky' | 'infrastructure' | 'quarantined';
  /** Like this on the default branch. */
  failuresOnDefaultBranch: number;
  /** Results of the test on this commit. */
  passesOnCommit: number;
  failuresOnCommit: number;
}

export type AgentPrompt = TestPrompt | CausePrompt | CommitFailurePrompt;

/** The prompt, of at most {@link PROMPT_TOKENS_MAX} tokens by the rule of `tokensOf`. */
export function promptOf(prompt: AgentPrompt): string {
  const { failure, links } = prompt;
  const first = [`${TASKS[prompt.kind]} ${FENCE_NOTE}`, `Repository: ${prompt.repository}`, ...subjectOf(prompt)];
  const rest = [
    ...(prompt.beginning ? [beginningInWords(prompt.beginning)] : []),
    ...(failure ? failureInWords(failure) : ['None of its failures is retained.']),
    ...(prompt.owners.length > 0
      ? [
          `Owners: ${prompt.owners
            .slice(0, NAMES_MAX)
            .map((owner) => told(owner, 'short'))
            .join(', ')}`,
        ]
      : []),
    ...linksInWords(links),
    ...(failure?.stack ? [`Stack:\n${told(failure.stack, 'stack')}`] : []),
    ...(prompt.kind === 'test' ? groupsInWords(prompt) : []),
  ];
  const last = `More: ${links.page} (page), ${links.more} (API, with a key of the repository).`;
  const room = PROMPT_TOKENS_MAX - tokensOf(last) - 1;
  return `${withinTokens([...first, ...rest], room).text}\n${last}`;
}

const TASKS: Record<AgentPrompt['kind'], string> = {
  test: 'Find out why this test fails, and fix the test or the code. A flaky test fails without a change of the code.',
  cause: 'Find out what these failures have in common, and fix it: tests that fail alike mostly share a cause.',
  'commit failure': 'Find out why this test failed on this commit, and fix it if the commit is to blame.',
};

const VERDICTS: Record<CommitFailurePrompt['verdict'], string> = {
  new: 'new: the commit is likely to blame',
  broken: 'broken on the default branch as well',
  known_flaky: 'known to be flaky: the commit is unlikely to blame',
  infrastructure: 'infrastructure: much failed in the same run, the commit is unlikely to blame',
  quarantined: 'quarantined: the failure is excused',
};

function subjectOf(prompt: AgentPrompt): string[] {
  if (prompt.kind === 'cause') {
    const names = prompt.tests
      .slice(0, NAMES_MAX)
      .map(({ name, failures }) => `- ${told(name, 'short')}: ${failures}×`);
    return [
      `Failures: ${prompt.failures}, from ${prompt.firstAt} to ${prompt.lastAt}. Tests: ${prompt.testCount}. Legs of CI jobs: ${prompt.legCount}. The tests that failed most:`,
      ...names,
    ];
  }
  if (prompt.kind === 'commit failure')
    return [
      `Test: ${told(prompt.testName, 'name')}`,
      `Verdict: ${VERDICTS[prompt.verdict]}. On this commit it failed ${prompt.failuresOnCommit}× and passed ${prompt.passesOnCommit}×; it failed like this ${prompt.failuresOnDefaultBranch}× on the default branch.`,
    ];
  const sure = prompt.probability === null ? '' : ` (probability ${prompt.probability.toFixed(3)})`;
  return [
    `Test: ${told(prompt.testName, 'name')}`,
    `Health: ${prompt.health}${sure}. Of ${prompt.executions} executions on the default branch in 30 days, ${prompt.failed} failed.`,
  ];
}

function beginningInWords({ passedCommit, failedCommit, isSameCommit }: PromptBeginning): string {
  if (failedCommit === null) return 'Where it began is not retained.';
  const failed = told(failedCommit, 'short');
  if (isSameCommit)
    return `It failed first on commit ${failed}, which passed as well: no change of the code is to blame.`;
  return passedCommit === null
    ? `It failed first on commit ${failed}; when it passed before is not known.`
    : `It passed last on commit ${told(passedCommit, 'short')} and failed first on commit ${failed}.`;
}

function failureInWords(failure: PromptFailure): string[] {
  const { pullRequest, line } = failure;
  const facts: readonly (readonly [name: string, value: string | null])[] = [
    ['leg', failure.leg],
    ['branch', failure.branch],
    ['commit', failure.commit],
    ['author', failure.author],
    ['file', failure.file],
  ];
  const where = [
    ...facts.flatMap(([name, value]) => (value === null ? [] : [`${name} ${told(value, 'short')}`])),
    ...(line === null ? [] : [`line ${line}`]),
    ...(pullRequest === null ? [] : [`pull request #${pullRequest}`]),
  ];
  return [
    `Newest failure, ${[failure.failedAt, ...where].join(', ')}:`,
    `${told(failure.exceptionType, 'short')}: ${told(failure.exceptionMessage, 'message')}`,
  ];
}

function groupsInWords({ groups }: TestPrompt): string[] {
  if (groups.length < 2) return [];
  return [
    'How else it fails:',
    ...groups
      .slice(0, GROUPS_MAX)
      .map(
        (group) =>
          `- ${group.failures}×, last ${group.lastAt}: ${told(group.exceptionType, 'short')} ${told(group.exceptionMessage, 'short')}`,
      ),
  ];
}

const linksInWords = ({ file, commit, compare }: PromptLinks): string[] =>
  (
    [
      ['File', file],
      ['Commit', commit],
      ['Changes between the two commits', compare],
    ] as const
  ).flatMap(([name, link]) => (link === null ? [] : [`${name}: ${told(link, 'link')}`]));

/** Between marks, cut in its middle to so many tokens. A code point is at least a quarter of one, and at most four. */
function told(text: string, kind: keyof typeof TOKENS): string {
  const tokensMax = TOKENS[kind];
  let length = tokensMax * 4;
  const kept = cutMiddle(text, length);
  let fenced = fence(kept);
  while (tokensOf(fenced) > tokensMax && length > 1) {
    length = Math.max(1, Math.floor(length * 0.8));
    fenced = fence(cutMiddle(kept, length));
  }
  return fenced;
}
