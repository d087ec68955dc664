/** A slice of a real history of CI results, as reports of the past (tests/simulation/real-history.ts). */
import { DAY_MS } from '../../src/domain/time.ts';
import { firstDays, type RealHistory, readRealHistory } from '../simulation/real-history.ts';
import { junitOf, type PastReport } from './past.ts';

interface Slice {
  days: number;
  /** The slice ends on the day before. */
  until: number;
  /** As many suites and tests: more need several pages. */
  suites: number;
  tests: number;
}

/** Tests that failed in the slice, in the suites that ran first; moved by whole days. */
export async function realPast(path: string, { days, until, suites, tests }: Slice): Promise<PastReport[]> {
  const history = firstDays(await readRealHistory(path), days);
  const { identities } = history;
  const kept = new Set([...failedTests(history)].sort().slice(0, tests));
  const moved = Math.floor((until - (history.runs.at(-1)?.at ?? 0)) / DAY_MS) * DAY_MS;
  return history.runs
    .filter(({ job }) => job < suites)
    .flatMap((run): PastReport[] => {
      const cases = Array.from(run.identities).flatMap((identity) => {
        const name = identities[identity]?.test ?? '';
        return kept.has(name) ? [{ name, failure: run.troubles.get(identity)?.message, seconds: 1 }] : [];
      });
      if (cases.length === 0) return [];
      const at = run.at + moved;
      return [
        {
          file: `${run.id}-${run.job}.xml`,
          body: junitOf(cases, at - 10 * 60_000),
          arrivedAt: at,
          run: {
            pipeline_name: 'Tests',
            job_name: `suite ${run.job}`,
            run_id: run.id,
            run_attempt: run.attempt,
            commit: run.commit,
            branch: 'main',
            default_branch: 'main',
          },
        },
      ];
    });
}

function failedTests({ runs, identities }: RealHistory): Set<string> {
  const failed = runs.flatMap(({ troubles }) => [...troubles.keys()]);
  return new Set(failed.map((identity) => identities[identity]?.test ?? ''));
}
