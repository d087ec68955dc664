/** What tests cost in their CI jobs, for searches in the order of cost: the figures of `…/cost` in its usual window. */
import { type CostedRun, costByPlace, noCost, type PartCost, type Place, placeKey } from '../domain/cost.ts';
import type { RedReason } from '../domain/red-run-reason.ts';
import type { Repository } from '../postgres/repositories.ts';
import type { PlaceCosts } from '../postgres/test-search.ts';
import type { LedgerWindow, RedRunLedger, RedRunLedgers } from './red-run-ledger.ts';

/** What tests are to blame for. */
export const REASONS_OF_TESTS: readonly RedReason[] = ['broken', 'flaky'];

/** Only so many are sorted by their cost, those with the most: each is a parameter of the statement. */
const SORTED_MAX = 20_000;

/** By `placeKey`. */
type CostsOfPlaces = ReadonlyMap<string, Place & { cost: PartCost }>;

export class TestCosts {
  /** As long as the ledgers are kept: pages of a list come from the same one. */
  readonly #kept = new WeakMap<RedRunLedger, { all: CostsOfPlaces; sorted: PlaceCosts }>();

  constructor(private readonly redRunLedgers: RedRunLedgers) {}

  /** Of all branches. Up to a minute old. */
  async of(
    repository: Repository,
    window: Omit<LedgerWindow, 'branches'>,
  ): Promise<{ costOf: (place: Place) => PartCost; sorted: PlaceCosts }> {
    const ledger = await this.redRunLedgers.of(repository, { ...window, branches: [] });
    const { all, sorted } = this.#kept.get(ledger) ?? keepIn(this.#kept, ledger, costsOf(ledger.runs));
    return { costOf: (place) => all.get(placeKey(place))?.cost ?? noCost(placeKey(place)), sorted };
  }
}

function costsOf(runs: readonly CostedRun[]): { all: CostsOfPlaces; sorted: PlaceCosts } {
  const all = costByPlace(runs.filter(({ reason }) => REASONS_OF_TESTS.includes(reason)));
  const amounts = [...all].map(([key, { cost, ...place }]) => [key, { ...place, amount: amountOf(cost) }] as const);
  const most = amounts.sort(([, one], [, other]) => other.amount - one.amount).slice(0, SORTED_MAX);
  return { all, sorted: new Map(most) };
}

/** To a thousandth of a red run, as cursors hold it. */
const amountOf = ({ redRuns }: PartCost): number => Math.round(1_000 * redRuns);

function keepIn<K extends object, V>(kept: WeakMap<K, V>, key: K, value: V): V {
  kept.set(key, value);
  return value;
}
