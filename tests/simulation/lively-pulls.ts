/** The pull requests of a lively repository: which of its commits belong to each, and what happens to them. */
import { type NewEvent, newEvent } from '../../src/domain/events.ts';
import { HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import type { PrEventsJob } from '../../src/queue/pr-events.ts';
import type { Run } from './history.ts';
import { hashOf, of, runIdOf } from './lively.ts';
import type { LivelyRepository } from './lively-repositories.ts';

/** A commit, and what ran on it. */
interface Pushed {
  commit: string;
  isDefaultBranch: boolean;
  /** Milliseconds since the epoch. */
  at: number;
  runs: Run[];
}

export interface LivelyPull {
  number: number;
  author: string;
  title: string;
  area: string;
  branch: string;
  /** The oldest first; at least one, unless a bot made it. */
  commits: Pushed[];
  /** Null: it is open. */
  merged: Pushed | null;
}

const PEOPLE = ['ana', 'bashir', 'chen', 'dagny', 'emeka', 'fern'];
const BOT = 'dependency-bot';
const QUEUE = 'merge queue';
const PACKAGES = ['zod', 'react', 'vitest', 'pino', 'undici', 'drizzle-orm', 'playwright-core'];
const CHANGES = [
  'round totals to whole cents',
  'keep what was typed after a reload',
  'retry requests that time out',
  'log slow queries with their plan',
  'show an empty state',
  'send one mail for each order',
  'cache answers for a minute',
  'refuse names that are too long',
  'move the form into a dialog',
  'read prices in one statement',
  'take the currency from the account',
  'remove the old endpoint',
  'validate addresses before payment',
];
const FIRST_NUMBER = 412;
/** Pull requests that are worked on at the same time, and the commits of one. */
const OPEN_MAX = 5;
const COMMITS_MAX = 5;
/** From its last commit to the merge: the time in which CI runs. */
const MERGED_AFTER_MS = HOUR_MS;
/** The first run of a commit begins that long after it. */
const RUN_AFTER_MS = 5 * MINUTE_MS;

/**
 * Assigns the commits of pull requests to pull requests, and each commit of the default branch to the one that brought
 * it: the oldest whose newest commit is green.
 *
 * @param runs in order of time
 */
export function pullsOf({ areas }: LivelyRepository, runs: readonly Run[]): LivelyPull[] {
  const pulls: LivelyPull[] = [];
  const open: LivelyPull[] = [];
  const begin = (about: Pick<LivelyPull, 'author' | 'title' | 'area' | 'branch'>): LivelyPull => {
    const pull = { ...about, number: FIRST_NUMBER + pulls.length, commits: [], merged: null };
    pulls.push(pull);
    return pull;
  };
  for (const pushed of commitsOf(runs)) {
    if (pushed.isDefaultBranch) {
      const ready = open.findIndex(({ commits }) => isReady(commits.at(-1), pushed.at));
      const [pull = begin(upgrade(pulls.length))] = ready < 0 ? [] : open.splice(ready, 1);
      pull.merged = pushed;
      continue;
    }
    const chosen = open[(Number(pushed.commit.slice(1)) * 7) % OPEN_MAX];
    const isContinued = chosen !== undefined && (chosen.commits.length < COMMITS_MAX || open.length === OPEN_MAX);
    const pull = isContinued ? chosen : begin(change(areas, pulls.length));
    pull.commits.push(pushed);
    if (!isContinued) open.push(pull);
  }
  return pulls;
}

/** In order of time, with their runs. */
function commitsOf(runs: readonly Run[]): Pushed[] {
  const byCommit = Map.groupBy(runs, ({ commit }) => commit);
  return [...byCommit].flatMap(([commit, ran]) => {
    const [first] = ran;
    return first ? [{ commit, isDefaultBranch: first.isDefaultBranch, at: first.at - RUN_AFTER_MS, runs: ran }] : [];
  });
}

const isReady = (newest: Pushed | undefined, at: number): boolean =>
  newest !== undefined && newest.at + MERGED_AFTER_MS <= at && isGreen(newest);

/** Whether the last attempt of each CI job passed. */
function isGreen({ runs }: Pushed): boolean {
  const last = new Map(runs.map((run) => [run.job, run]));
  return last.values().every(({ troubles }) => troubles.values().every(({ isPassedOnRetry }) => isPassedOnRetry));
}

function change(areas: readonly string[], index: number) {
  const [author, area] = [of(PEOPLE, index * 5), of(areas, index * 3)];
  return { author, area, title: `${area}: ${of(CHANGES, index)}`, branch: `${author}/${area}-${index}` };
}

function upgrade(index: number) {
  const name = of(PACKAGES, index);
  const version = `4.${index % 10}.${index % 7}`;
  return {
    author: BOT,
    area: 'dependencies',
    title: `Bump ${name} to ${version}`,
    branch: `${BOT}/${name}-${version}`,
  };
}

/** The host's state of these pull requests now. */
export const pullRequestsOf = ({ owner, name }: LivelyRepository, pulls: readonly LivelyPull[]): PrEventsJob => ({
  v: 1,
  repository: { host: 'github.com', owner, name },
  default_branch: 'main',
  page_url: `https://github.example.com/${owner}/${name}`,
  page_kind: 'github',
  renamed_from: null,
  pull_requests: pulls.map(({ number, author, title, branch, commits, merged }) => {
    const head = commits.at(-1);
    return {
      number,
      id: 5_000 + number,
      title,
      author: { id: 1 + (PEOPLE.indexOf(author) + 1), login: author },
      base_ref: 'main',
      head_ref: branch,
      head_commit: head ? hashOf(head.commit) : null,
      merge_commit: merged ? hashOf(merged.commit) : null,
      updated_at: new Date(merged?.at ?? head?.at ?? 0).toISOString(),
    };
  }),
  events: [],
  deleted_branches: [],
});

interface Moment {
  at: number;
  event: NewEvent;
}

/** Events of these pull requests within a time, in order. */
export const eventsOf = (
  { jobs }: LivelyRepository,
  pulls: readonly LivelyPull[],
  { from, to }: { from: number; to: number },
): Moment[] =>
  pulls
    .flatMap((pull) => [...life(pull, jobs)])
    .filter(({ at }) => at >= from && at <= to)
    .sort((one, other) => one.at - other.at);

function* life(pull: LivelyPull, jobs: readonly string[]): Generator<Moment> {
  const { number, author, area, commits, merged } = pull;
  const by = (trigger: string) => ({ trigger, pullRequest: number, baseRef: 'main' });
  const begun = commits[0]?.at ?? (merged?.at ?? 0) - 2 * HOUR_MS;
  const reviewer = of(PEOPLE, number * 5 + 2);
  const reviewed = (type: string, reviewType: string, message: string | null) =>
    newEvent('action.review', { type, review_type: reviewType, reviewer, message }, by(`@${reviewer}`));
  yield { at: begun + MINUTE_MS, event: newEvent('action.label', { added: [area] }, by(`@${author}`)) };
  yield {
    at: begun + 3 * MINUTE_MS,
    event: newEvent('action.request_reviews', { reviewers: [reviewer] }, by(`@${author}`)),
  };
  for (const [i, { commit, at, runs }] of commits.entries()) {
    const before = commits[i - 1];
    if (before) {
      const message = 'One case is missing. See the comment at the test.';
      yield { at: (before.at + at) / 2, event: reviewed('changes_requested', 'REQUEST_CHANGES', message) };
      const moved = { before: hashOf(before.commit), after: hashOf(commit) };
      yield { at, event: newEvent('action.update', moved, by(`@${author}`)) };
    }
    for (const run of runs) if (run.attempt > 1) yield retried(pull, of(jobs, run.job), run, by(`@${author}`));
  }
  if (merged) yield* merging(pull, merged, reviewed('approved', 'APPROVE', null), by);
}

function retried({ branch }: LivelyPull, job: string, run: Run, about: Parameters<typeof newEvent>[2]): Moment {
  const said = {
    pipeline_name: 'CI',
    job_name: job,
    run_id: runIdOf(run),
    run_attempt: run.attempt,
    commit: hashOf(run.commit),
    branch,
  };
  return { at: run.at, event: newEvent('ci_insights.job_retried', said, about) };
}

/** Whether it left the queue once before it was merged, by a failure of another's test. */
const hasLeft = ({ number, merged }: LivelyPull): boolean => merged !== null && number % 6 === 3;
/** The pull request in which the queue checks it. */
const checkOf = (number: number): number => 9_000 + number;

/**
 * What ran when the queue checked those that left it: a CI job in which a flaky test failed, and which passed when it ran again.
 *
 * @param runs those of the repository, the oldest first
 */
export function queueRunsOf(
  pulls: readonly LivelyPull[],
  runs: readonly Run[],
): { run: Run; pull: { number: number; branch: string } }[] {
  return pulls.filter(hasLeft).flatMap(({ number, merged }) => {
    const at = merged?.at ?? 0;
    const like = runs.findLast((run) => run.at <= at && run.troubles.size > 0) ?? runs[0];
    if (!like) return [];
    const failing = [...like.troubles.keys()][0] ?? like.identities[0] ?? 0;
    const run = { ...like, id: `queue ${number}`, commit: `q${checkOf(number)}`, isDefaultBranch: false };
    const troubles = new Map([[failing, { message: 'race in the queue', isPassedOnRetry: false }]]);
    const pull = { number: checkOf(number), branch: `merge-queue/${number}` };
    return [
      { run: { ...run, attempt: 1, at: at - 47 * MINUTE_MS, troubles }, pull },
      { run: { ...run, attempt: 2, at: at - 30 * MINUTE_MS, troubles: new Map() }, pull },
    ];
  });
}

/** Through the queue, at the second attempt for some. */
function* merging(
  pull: LivelyPull,
  { commit, at }: Pushed,
  approval: NewEvent,
  by: (trigger: string) => Parameters<typeof newEvent>[2],
): Generator<Moment> {
  const { number, author, branch } = pull;
  const place = { branch: 'main', queue_name: 'default' };
  const checked = (conclusion: string) => ({
    ...place,
    speculative_check_pull_request: {
      number: checkOf(number),
      checks_conclusion: conclusion,
      pull_request_numbers: [number],
    },
  });
  const command = { command: 'queue', queue_name: 'default' };
  const minutesBefore = (minutes: number, event: NewEvent): Moment => ({ at: at - minutes * MINUTE_MS, event });
  yield minutesBefore(54, approval);
  if (hasLeft(pull)) {
    yield minutesBefore(50, newEvent('command.queue', command, by(`@${author}`)));
    yield minutesBefore(49, newEvent('action.queue.enter', place, by(`@${author}`)));
    yield minutesBefore(48, newEvent('action.queue.checks_start', place, by(QUEUE)));
    yield minutesBefore(34, newEvent('action.queue.checks_end', checked('failure'), by(QUEUE)));
    const why = { ...place, merged: false, reason: 'The checks of the queue failed.' };
    yield minutesBefore(34, newEvent('action.queue.leave', why, by(QUEUE)));
  }
  yield minutesBefore(20, newEvent('command.queue', command, by(`@${author}`)));
  yield minutesBefore(19, newEvent('action.queue.enter', place, by(`@${author}`)));
  yield minutesBefore(18, newEvent('action.queue.checks_start', place, by(QUEUE)));
  yield minutesBefore(1, newEvent('action.queue.checks_end', checked('success'), by(QUEUE)));
  yield minutesBefore(0, newEvent('action.queue.leave', { ...place, merged: true }, by(QUEUE)));
  yield minutesBefore(0, newEvent('action.merge', { branch: 'main', commit: hashOf(commit) }, by(QUEUE)));
  yield minutesBefore(-1, newEvent('action.delete_head_branch', { branch }, by(`@${author}`)));
}
