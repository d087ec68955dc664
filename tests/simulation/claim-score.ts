/** Claims about the failures of a day of pull requests, from what the service would know, beside what really caused them. */
import { newBelief } from '../../src/domain/belief.ts';
import { type ClaimEvidence, claimVerdict, explanationsOf, rerunsNeeded } from '../../src/domain/change-claim.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { NEARBY_MS, troublesOf } from '../../src/domain/trouble-elsewhere.ts';
import { weightsBefore } from '../../src/domain/weights-before.ts';
import { randomFrom } from '../support/random.ts';
import { type Asked, changeOf, elsewhereOf, healthOf, isWholeRun, knowMain, type Main } from './moment-score.ts';
import type { Cause, MomentRun, MomentWorld } from './moment-worlds.ts';

/** A claim with the truth. */
export interface ScoredClaim {
  probability: number;
  verdict: ReturnType<typeof claimVerdict>;
  cause: Cause;
  /** Whether the default branch knew the test as flaky when it failed. */
  isKnownFlaky: boolean;
}

/** `reruns`: when the run has ended, and once more after the reruns that the claim asks for. */
export type ClaimAsked = Asked | 'after reruns';

/** Claims about each failed test of each pull request. */
export function scoreClaims(world: MomentWorld, when: ClaimAsked): ScoredClaim[] {
  const { runs, knowsAuthors } = world;
  const asked = when === 'later' ? 'later' : 'at once';
  const random = randomFrom(runs.length);
  const mainAt = asked === 'later' ? knowMain(runs) : undefined;
  const pulls = Map.groupBy(
    runs.filter(({ pullRequest }) => pullRequest !== null),
    ({ id }) => id,
  );
  return pulls
    .values()
    .toArray()
    .flatMap((all) => {
      const attempts = asked === 'later' ? all : all.slice(0, 1);
      const [first] = attempts;
      if (!first) return [];
      const known = asked === 'later' ? Number.POSITIVE_INFINITY : first.at;
      const main = mainAt ?? knowMain(runs.filter(({ at }) => at <= known));
      const seen = runs.filter(({ at, commit }) => at <= known && commit !== first.commit);
      const elsewhere = elsewhereOf(first, seen, main, knowsAuthors);
      const troubleIn = new Map(
        attempts.map((run) => {
          const failed = [...run.troubles].filter(([test]) => healthOf(main, test, run.at) === 'healthy');
          const others = attempts.filter((one) => one !== run);
          const failures = failed.map(([test, { message }]) => ({
            testId: String(test),
            groups: [`${test}/${message}`],
            messages: [message],
            hasPassedAgain: others.some(({ causes }) => !causes.has(test)),
          }));
          return [
            run,
            { healthy: failed.length, whole: isWholeRun(run, failed.length), of: troublesOf(failures, elsewhere) },
          ];
        }),
      );
      const failedTests = new Set(attempts.flatMap(({ causes }) => [...causes.keys()]));
      return [...failedTests].map((test): ScoredClaim => {
        const failures = attempts.filter(({ causes }) => causes.has(test));
        const [failure = first] = failures;
        const health = healthOf(main, test, failure.at);
        const seenOnMain = runs.filter((run) => run.isDefaultBranch && run.at < failure.at && run.at <= known);
        const signs = failures.map((run) => {
          const trouble = troubleIn.get(run);
          return trouble?.whole ? WHOLE : trouble?.of.get(String(test));
        });
        const groups = failures.map((run) => {
          const firstAt = main.groups.get(`${test}/${run.troubles.get(test)?.message}`);
          return firstAt === undefined || firstAt >= run.at;
        });
        const evidence: ClaimEvidence = {
          weights: weightsBefore(
            { belief: main.rules.beliefs.get(test) ?? newBelief(), executions: seenOnMain.length / 2 },
            { health, commit: first.commit },
          ),
          health,
          defaultFailures: seenOnMain.filter(({ troubles }) => troubles.has(test)).length,
          isNewGroup: groups.some(Boolean),
          failures: failures.length,
          passes: attempts.length - failures.length,
          otherLegs: { passed: false, failed: 0 },
          tests: failure.identities.length,
          together: (troubleIn.get(failure)?.healthy ?? 0) + (health === 'healthy' ? 0 : 1),
          trouble: signs.every((one) => one !== undefined) ? (signs[0] ?? null) : null,
          around: around(seen, first, { main, knowsAuthors }),
          otherPullRequests: pullsFailing(test, seen, failure),
          base: null,
          laterFailures: null,
          nearness: 1,
        };
        const cause = failure.causes.get(test) ?? 'flaky';
        const rerun = when === 'after reruns' ? (rerunsNeeded(evidence)?.reruns ?? 0) : 0;
        const rate = {
          change: failure.ownRate,
          main: 1,
          flaky: world.flaky.get(test) ?? 0,
          trouble: world.troubleLasts,
        }[cause];
        for (let i = 0; i < rerun; i++) {
          const isFailed = random() < rate;
          if (isFailed) evidence.failures++;
          else evidence.passes++;
          // Who reruns a test stops once it passes.
          if (!isFailed) break;
        }
        const explanations = explanationsOf(evidence);
        return {
          probability: explanations.change,
          verdict: claimVerdict(explanations, evidence),
          cause,
          isKnownFlaky: health === 'flaky',
        };
      });
    });
}

const WHOLE = { sign: 'run', changes: 0, isOnDefaultBranch: false } as const;

function around(
  seen: readonly MomentRun[],
  asked: MomentRun,
  { main, knowsAuthors }: { main: Main; knowsAuthors: boolean },
): ClaimEvidence['around'] {
  const near = seen.filter(
    (run) => Math.abs(run.at - asked.at) <= NEARBY_MS && (!run.isDefaultBranch || run.at <= asked.at),
  );
  const byChange = Map.groupBy(near, (run) => changeOf(run, knowsAuthors));
  byChange.delete(changeOf(asked, knowsAuthors));
  const isFailing = (run: MomentRun): boolean =>
    run.troubles.keys().some((test) => main.rules.health(test) === 'healthy');
  return { changes: byChange.size, failing: [...byChange.values()].filter((some) => some.some(isFailing)).length };
}

/** As `failing_pull_requests` counts them. */
function pullsFailing(test: number, seen: readonly MomentRun[], { at, pullRequest }: MomentRun): number {
  const failing = seen.flatMap((run) =>
    run.pullRequest && run.causes.has(test) && run.at > at - 7 * DAY_MS && run.at < at + HOUR_MS
      ? [run.pullRequest.number]
      : [],
  );
  return new Set(failing.filter((number) => number !== pullRequest?.number)).size;
}
