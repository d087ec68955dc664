/** The verdicts on the failures of a day of pull requests, from what the service would know, beside their causes. */
import { type CommitVerdict, commitVerdict, isTroubledOffDefault } from '../../src/domain/commit-verdict.ts';
import { episodeAt, type HealthStep } from '../../src/domain/health-at.ts';
import type { Health } from '../../src/domain/status.ts';
import {
  DEFAULT_BRANCH_CHANGE,
  type Elsewhere,
  NEARBY_MS,
  SAME_FAILURE_MS,
  troublesOf,
} from '../../src/domain/trouble-elsewhere.ts';
import type { Cause, MomentRun, MomentWorld } from './moment-worlds.ts';
import { ServiceRules } from './service-rules.ts';

/** By cause, then by verdict: failed tests, and runs of changes that broke tests, by the verdict that excuses most. */
export type MomentCounts = Map<Cause | 'whole change', Map<CommitVerdict, number>>;

/** `at once`: when the run has ended, as a gate asks. `later`: when all of the day is known, and main was fixed. */
export const ASKED = ['at once', 'later'] as const;
export type Asked = (typeof ASKED)[number];

/** Of whose messages the service reads as many. */
const RUN_SAMPLE = 3;

/** The default branch as the service knows it at the end: health of each test, when it changed, and its failure groups. */
export interface Main {
  steps: Map<number, HealthStep[]>;
  rules: ServiceRules;
  /** When each message first appeared, by test. */
  groups: Map<string, number>;
}

export function scoreMoments({ runs, knowsAuthors }: MomentWorld, asked: Asked): MomentCounts {
  const counts: MomentCounts = new Map();
  const mainAt = asked === 'later' ? knowMain(runs) : undefined;
  const pulls = Map.groupBy(
    runs.filter(({ pullRequest }) => pullRequest !== null),
    ({ id }) => id,
  );
  for (const all of pulls.values()) {
    const attempts = asked === 'later' ? all : all.slice(0, 1);
    const [first] = attempts;
    if (!first) continue;
    const known = asked === 'later' ? Number.POSITIVE_INFINITY : first.at;
    const main = mainAt ?? knowMain(runs.filter(({ at }) => at <= known));
    const seen = runs.filter(({ at, commit }) => at <= known && commit !== first.commit);
    const elsewhere = elsewhereOf(first, seen, main, knowsAuthors);
    const explained = attempts.map((run) => explainedIn(run, attempts, main, elsewhere));
    const count = (cause: Cause | 'whole change', verdict: CommitVerdict): void => {
      const byVerdict = counts.get(cause) ?? new Map<CommitVerdict, number>();
      counts.set(cause, byVerdict.set(verdict, (byVerdict.get(verdict) ?? 0) + 1));
    };
    const ofChange = new Set<CommitVerdict>();
    const failed = new Set(attempts.flatMap(({ causes }) => [...causes.keys()]));
    for (const test of failed) {
      const failures = attempts.filter(({ causes }) => causes.has(test));
      const moment = failures[0]?.at ?? 0;
      const verdict = commitVerdict({
        isQuarantined: false,
        isTroubled: attempts.every((run, i) => !run.causes.has(test) || explained[i]?.has(String(test))),
        hasPassedOnDefault: true,
        groups: failures.map(({ at, troubles }) => ({
          firstHereAt: at,
          firstOnDefaultAt: main.groups.get(`${test}/${troubles.get(test)?.message}`) ?? null,
        })),
        health: healthOf(main, test, moment),
      });
      const cause = failures[0]?.causes.get(test) ?? 'flaky';
      count(cause, verdict);
      if (cause === 'change') ofChange.add(verdict);
    }
    if (ofChange.size > 0) count('whole change', ofChange.has('infrastructure') ? 'infrastructure' : 'new');
  }
  return counts;
}

export const healthOf = ({ steps, rules }: Main, test: number, moment: number): Health =>
  episodeAt(steps.get(test) ?? [], moment, rules.health(test)).health;

export function knowMain(runs: readonly MomentRun[]): Main {
  const rules = new ServiceRules({ countsPullRequests: false });
  const main: Main = { steps: new Map(), rules, groups: new Map() };
  const failingSince = new Map<number, number>();
  for (const run of runs) {
    if (!run.isDefaultBranch) continue;
    const before = Array.from(run.identities, (test) => rules.health(test));
    rules.takeIn(run);
    for (let i = 0; i < run.identities.length; i++) {
      const test = run.identities[i] as number;
      const failure = run.troubles.get(test);
      if (failure) {
        if (!failingSince.has(test)) failingSince.set(test, run.at);
        const group = `${test}/${failure.message}`;
        if (!main.groups.has(group)) main.groups.set(group, run.at);
      } else failingSince.delete(test);
      const after = rules.health(test);
      if (after === before[i]) continue;
      const beganAt = after === 'healthy' ? null : (failingSince.get(test) ?? run.at);
      const steps = main.steps.get(test) ?? [];
      steps.push({ at: run.at, beganAt, before: before[i] ?? 'healthy', after });
      main.steps.set(test, steps);
    }
  }
  return main;
}

export const changeOf = ({ pullRequest }: MomentRun, knowsAuthors: boolean): string => {
  if (!pullRequest) return DEFAULT_BRANCH_CHANGE;
  const { number, author, root, namesBase } = pullRequest;
  return knowsAuthors ? `author ${author}` : `pull request ${namesBase ? root : number}`;
};

export function elsewhereOf(
  asked: MomentRun,
  runs: readonly MomentRun[],
  main: Main,
  knowsAuthors: boolean,
): Elsewhere {
  const noOne = () => ({ near: new Set<string>(), far: new Set<string>() });
  const groups = new Map<string, ReturnType<typeof noOne>>();
  const messages = new Map<string, { changes: Set<string>; tests: Set<string> }>();
  const changes = noOne();
  const own = changeOf(asked, knowsAuthors);
  for (const run of runs) {
    const change = changeOf(run, knowsAuthors);
    const away = Math.abs(run.at - asked.at);
    if (change === own || away > SAME_FAILURE_MS || (run.isDefaultBranch && run.at > asked.at)) continue;
    const isNear = away <= NEARBY_MS;
    changes.far.add(change);
    if (isNear) changes.near.add(change);
    for (const [i, [test, { message }]] of [...run.troubles].entries()) {
      const seen = groups.get(`${test}/${message}`) ?? noOne();
      groups.set(`${test}/${message}`, seen);
      seen.far.add(change);
      if (isNear) seen.near.add(change);
      if (!isNear || i >= RUN_SAMPLE || main.rules.health(test) !== 'healthy') continue;
      const alike = messages.get(message) ?? { changes: new Set(), tests: new Set() };
      messages.set(message, { changes: alike.changes.add(change), tests: alike.tests.add(String(test)) });
    }
  }
  return { changes, groups, messages };
}

/** @param healthy failed tests that were healthy on the default branch */
export const isWholeRun = ({ identities, causes }: MomentRun, healthy: number): boolean =>
  isTroubledOffDefault({ passed: identities.length - causes.size, failedHealthy: healthy, healthyTests: healthy });

function explainedIn(
  run: MomentRun,
  attempts: readonly MomentRun[],
  main: Main,
  elsewhere: Elsewhere,
): { has(test: string): boolean } {
  const failed = [...run.troubles].filter(([test]) => healthOf(main, test, run.at) === 'healthy');
  if (isWholeRun(run, failed.length)) return new Set([...run.causes.keys()].map(String));
  const others = attempts.filter((one) => one !== run);
  return troublesOf(
    failed.map(([test, { message }]) => ({
      testId: String(test),
      groups: [`${test}/${message}`],
      messages: [message],
      hasPassedAgain: others.some(({ causes }) => !causes.has(test)),
    })),
    elsewhere,
  );
}
