/** What causes cost: the part of a test in a red run goes to the causes of its failures there. */
import { type CostedRun, costAmong, type PartCost } from '../domain/cost.ts';
import type { RedReason } from '../domain/red-run-reason.ts';
import type { Repository } from '../postgres/repositories.ts';
import type { CausesOfRedRuns, RedRunCauses } from './causes-of-red-runs.ts';
import type { LedgerWindow, RedRunLedgers } from './red-run-ledger.ts';

/** Stands for the cause of failures without one. */
export const NO_CAUSE = '';

/** Reasons for which causes are to blame. Trouble that fails a whole run is a cause, too; a wrong change is its author's. */
export const REASONS_OF_CAUSES: readonly RedReason[] = ['broken', 'flaky', 'infrastructure'];

/** Shared out evenly among the causes of a test in a run; by cause, {@link NO_CAUSE} for what has none. */
export const costByCause = (runs: readonly CostedRun[], causesOf: CausesOfRedRuns): PartCost[] =>
  costAmong(runs, (testId, { key }) => causesOf(key, testId).map((cause) => cause ?? NO_CAUSE));

/** What each cause costs in a window, on all branches: by its id. Up to a minute old. */
export async function costOfCauses(
  { redRunLedgers, redRunCauses }: { redRunLedgers: RedRunLedgers; redRunCauses: RedRunCauses },
  repository: Repository,
  window: Omit<LedgerWindow, 'branches'>,
): Promise<Map<string, PartCost>> {
  const [{ runs }, causesOf] = await Promise.all([
    redRunLedgers.of(repository, { ...window, branches: [] }),
    redRunCauses.of(repository, window),
  ]);
  const meant = runs.filter(({ reason }) => REASONS_OF_CAUSES.includes(reason));
  return new Map(costByCause(meant, causesOf).map((cost) => [cost.key, cost]));
}
