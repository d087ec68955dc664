/**
 * Names of tests: under which test a name is stored, and what a test is called now, by the renames that were accepted. Pure.
 *
 * A renamed test keeps its id. So every name belongs to the test at the beginning of its chain of accepted renames.
 */

export const RENAME_STATES = ['proposed', 'accepted', 'rejected', 'undone'] as const;
export type RenameState = (typeof RENAME_STATES)[number];

/** No rule accepts a rename that is less sure: of planted ones, all above are right (docs/renames.md). */
export const RULE_CONFIDENCE_MIN = 0.9;

export interface AcceptedRename {
  fromId: string;
  /** The id that the new name alone would have. */
  toId: string;
  toName: string;
  /** When the new name first ran; milliseconds since the epoch. */
  firstMs: number;
}

/** The accepted renames of a repository. */
export class TestNames {
  readonly #before: ReadonlyMap<string, string>;
  readonly #idOfName: ReadonlyMap<string, string>;

  constructor(readonly accepted: readonly AcceptedRename[]) {
    this.#before = new Map(accepted.map(({ fromId, toId }) => [toId, fromId]));
    this.#idOfName = new Map(accepted.map(({ toId, toName }) => [toName, this.testOf(toId)]));
  }

  /** The test under which an id, derived from a name, is stored. */
  testOf(id: string): string {
    const seen = new Set<string>();
    let test = id;
    for (
      let before = this.#before.get(test);
      before !== undefined && !seen.has(before);
      before = this.#before.get(test)
    ) {
      seen.add(before);
      test = before;
    }
    return test;
  }

  /** The test of a name that a rename gave; undefined for every other name. */
  testNamed(name: string): string | undefined {
    return this.#idOfName.get(name);
  }

  /** By test: its newest name. Only of tests that were renamed. */
  newest(): ReadonlyMap<string, string> {
    const inOrder = this.accepted.toSorted((a, b) => a.firstMs - b.firstMs || (a.toId < b.toId ? -1 : 1));
    return new Map(inOrder.map(({ toId, toName }) => [this.testOf(toId), toName]));
  }

  /** Whether to accept another would make a test its own predecessor, or give a name to two tests. */
  refuses({ fromId, toId }: Pick<AcceptedRename, 'fromId' | 'toId'>): boolean {
    return this.#before.has(toId) || this.testOf(fromId) === this.testOf(toId);
  }
}
