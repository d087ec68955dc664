/**
 * Which tests were renamed: one that ends where another begins, and is like it. Pure; docs/renames.md has the rule and how
 * often it is right.
 *
 * Tests are compared only within a *handover*: in the same legs, the first commit of the new one is the first one without
 * the old one. Within it, tests that their framework knows again are found first, then those that moved to another file or class,
 * then those that got another name in the same one. A test has one successor at most, and is that of one test at most. What is ambiguous is left out.
 */
import { likenessOf, partsOfName, sharedTail, type TestNameParts } from './test-name-parts.ts';

/** When a test ran in a leg, by the places of commits among those on which the leg ran; 0 is the oldest. */
interface Span {
  /** `legKey` (test-identity.ts). */
  leg: string;
  first: number;
  last: number;
}

export interface SeenTest {
  testId: string;
  name: string;
  /** As reported; empty when unknown. */
  file: string;
  /** By what its framework knows it again under another name; empty if it says nothing. */
  history: string;
  /** All legs in which it ran within the window; none is there twice. */
  spans: readonly Span[];
}

/**
 * - `same_commit`: in the same legs, one ended where the other began; of every proposal
 * - `same_history`: its framework says that it is the same test, as Allure does by `historyId`
 * - `same_name`: only the file, class or suite around it differs
 * - `same_file`: reported from the same file
 * - `same_place`: in the same class or suite
 * - `similar_name`: most words of the names are the same
 * - `moved_together`: other tests of its place went to the same place, under their names
 * - `same_rows`: it is run on the same rows of data
 */
export const RENAME_REASONS = [
  'same_commit',
  'same_history',
  'same_name',
  'same_file',
  'same_place',
  'similar_name',
  'moved_together',
  'same_rows',
] as const;
export type RenameReason = (typeof RENAME_REASONS)[number];

export interface ProposedRename {
  fromId: string;
  toId: string;
  /** In the order of {@link RENAME_REASONS}. */
  reasons: readonly RenameReason[];
  /** From 0.5 to 1. Of planted renames, at least so many are right (docs/renames.md). */
  confidence: number;
}

/** Commits on which the old one must have run in a leg, the new one must have run, and the old one must have been missing. */
export const RENAME_COMMITS_MIN = 3;
/** Days back from the newest execution in which tests are compared. */
export const RENAME_DAYS = 14;
/** Renames that are less sure are not proposed. */
export const RENAME_CONFIDENCE_MIN = 0.5;
/** The share of words that names in one place must have in common: if one test left and one came, and if several did. */
const LIKENESS_ALONE_MIN = 0.4;
const LIKENESS_AMONG_MIN = 0.6;
/** By so much the likeliest must lead the next. */
const LIKENESS_LEAD = 0.15;
/** The confidence if a framework that knows its tests says that one is the other. */
const SAME_HISTORY_CONFIDENCE = 0.99;
/** In a place where more left or came, nothing is compared by words. */
const COMPARED_MAX = 200;

/** @param commits by leg: on how many commits it ran */
export function proposeRenames(
  tests: readonly SeenTest[],
  commits: ReadonlyMap<string, number>,
): readonly ProposedRename[] {
  const handovers = new Map<string, { left: Named[]; came: Named[] }>();
  const handoverAt = (key: string) => {
    const found = handovers.get(key) ?? { left: [], came: [] };
    handovers.set(key, found);
    return found;
  };
  for (const test of tests) {
    const { hasLeft, hasCome } = fateOf(test, commits);
    if (!hasLeft && !hasCome) continue;
    const named = { ...test, parts: partsOfName(test.name) };
    if (hasLeft) handoverAt(keyOf(test, ({ last }) => last + 1)).left.push(named);
    if (hasCome) handoverAt(keyOf(test, ({ first }) => first)).came.push(named);
  }
  return [...handovers.values()].flatMap(({ left, came }) =>
    left.length > 0 && came.length > 0 ? new Handover(left, came).proposals() : [],
  );
}

function fateOf({ spans }: SeenTest, commits: ReadonlyMap<string, number>): { hasLeft: boolean; hasCome: boolean } {
  const hasRun = spans.length > 0 && spans.every(({ first, last }) => last - first + 1 >= RENAME_COMMITS_MIN);
  const isSince = (place: number, leg: string) => (commits.get(leg) ?? 0) - place >= RENAME_COMMITS_MIN;
  return {
    hasLeft: hasRun && spans.every(({ leg, last }) => isSince(last + 1, leg)),
    hasCome: hasRun && spans.every(({ leg, first }) => first >= RENAME_COMMITS_MIN && isSince(first, leg)),
  };
}

const keyOf = ({ spans }: SeenTest, placeOf: (span: Span) => number): string =>
  spans
    .map((span) => `${span.leg}\0${placeOf(span)}`)
    .sort()
    .join('\0\0');

interface Named extends SeenTest {
  parts: TestNameParts;
}

/** Tests of one place that left or came together. */
interface Group {
  place: string;
  tests: readonly Named[];
  /** By own name and row. */
  byName: ReadonlyMap<string, Named>;
}

/** A test with all its rows. */
interface Base {
  own: string;
  rows: ReadonlyMap<string, Named>;
}

const nameOf = ({ parts }: Named): string => `${parts.own}\0${parts.row}`;
/** A name without a class or suite stands in its file. */
const placeOf = ({ parts, file }: Named): string => (parts.place === '' ? file : parts.place);

class Handover {
  readonly #left: Set<Named>;
  readonly #came: Set<Named>;
  readonly #found: ProposedRename[] = [];

  constructor(left: readonly Named[], came: readonly Named[]) {
    this.#left = new Set(left);
    this.#came = new Set(came);
  }

  proposals(): readonly ProposedRename[] {
    this.#sameHistory();
    this.#movePlaces();
    this.#moveAlone();
    this.#renameInPlace(placeOf, 'same_place');
    this.#renameInPlace(({ file }) => file, 'same_file');
    return this.#found;
  }

  #propose(from: Named, to: Named, confidence: number, reasons: readonly RenameReason[]): void {
    this.#left.delete(from);
    this.#came.delete(to);
    const all = new Set<RenameReason>(['same_commit', ...reasons]);
    if (from.file !== '' && from.file === to.file) all.add('same_file');
    if (from.parts.row !== '' && from.parts.row === to.parts.row) all.add('same_rows');
    if (confidence < RENAME_CONFIDENCE_MIN) return;
    this.#found.push({
      fromId: from.testId,
      toId: to.testId,
      reasons: RENAME_REASONS.filter((reason) => all.has(reason)),
      confidence: Math.round(confidence * 100) / 100,
    });
  }

  /** The only test of its history that left became the only one that came. */
  #sameHistory(): void {
    const came = Map.groupBy(this.#came, ({ history }) => history);
    for (const [history, [from, ...others]] of Map.groupBy(this.#left, (test) => test.history)) {
      const [to, ...more] = came.get(history) ?? [];
      if (history === '' || !from || !to || others.length > 0 || more.length > 0) continue;
      const reasons: RenameReason[] = nameOf(from) === nameOf(to) ? ['same_history', 'same_name'] : ['same_history'];
      this.#propose(from, to, SAME_HISTORY_CONFIDENCE, reasons);
    }
  }

  /** All tests that left a place came to the same other place. */
  #movePlaces(): void {
    const left = groupsOf(this.#left);
    const came = groupsOf(this.#came);
    const byName = new Map<string, Group[]>();
    for (const group of came)
      for (const name of group.byName.keys()) byName.set(name, [...(byName.get(name) ?? []), group]);
    const candidates = left.flatMap((from) => {
      const names = [...from.byName.keys()];
      const [rarest = []] = names.map((name) => byName.get(name) ?? []).sort((a, b) => a.length - b.length);
      return rarest
        .filter((to) => to.place !== from.place && names.every((name) => to.byName.has(name)))
        .map((to) => ({ from, to, score: sharedTail(from.place, to.place) }));
    });
    for (const { from, to, score } of mutualBest(candidates, 1)) {
      for (const [name, test] of from.byName) {
        const successor = to.byName.get(name);
        if (!successor) continue;
        const reasons: RenameReason[] = from.tests.length > 1 ? ['same_name', 'moved_together'] : ['same_name'];
        this.#propose(test, successor, movedConfidence(test, successor, from.tests.length, score), reasons);
      }
    }
  }

  /** The only test of its name that left became the only one that came. */
  #moveAlone(): void {
    const came = Map.groupBy(this.#came, nameOf);
    for (const [name, [from, ...others]] of Map.groupBy(this.#left, nameOf)) {
      const [to, ...more] = came.get(name) ?? [];
      if (!from || !to || others.length > 0 || more.length > 0 || placeOf(from) === placeOf(to)) continue;
      this.#propose(from, to, movedConfidence(from, to, 1, sharedTail(placeOf(from), placeOf(to))), ['same_name']);
    }
  }

  /** A test with all its rows got a name like its own, in the same place. */
  #renameInPlace(whereOf: (test: Named) => string, reason: RenameReason): void {
    const came = Map.groupBy(this.#came, whereOf);
    for (const [where, tests] of Map.groupBy(this.#left, whereOf)) {
      if (where === '') continue;
      const [left, right] = [basesOf(tests), basesOf(came.get(where) ?? [])];
      if (left.length > COMPARED_MAX || right.length > COMPARED_MAX) continue;
      const isAlone = left.length === 1 && right.length === 1;
      const least = isAlone ? LIKENESS_ALONE_MIN : LIKENESS_AMONG_MIN;
      const candidates = left.flatMap((from) =>
        right
          .map((to) => ({ from, to, score: likenessOf(from.own, to.own) }))
          .filter(({ to, score }) => score >= least && hasSameRows(from, to)),
      );
      for (const { from, to, score } of mutualBest(candidates, LIKENESS_LEAD))
        for (const [row, test] of from.rows) {
          const successor = to.rows.get(row);
          if (successor) this.#propose(test, successor, renamedConfidence(score, isAlone), [reason, 'similar_name']);
        }
    }
  }
}

/** The more tests moved together, and the more of the place's name stayed, the surer. */
function movedConfidence(from: Named, to: Named, together: number, tail: number): number {
  if (tail > 0 || (from.file !== '' && from.file === to.file)) return together > 1 ? 0.98 : 0.95;
  if (together >= 3) return 0.97;
  return together === 2 ? 0.9 : 0.6;
}

const renamedConfidence = (likeness: number, isAlone: boolean): number =>
  Math.min(0.95, (isAlone ? 0.5 : 0.4) + likeness / 2);

/** Places with several tests of one name are left out: which is which is not known. */
function groupsOf(tests: Iterable<Named>): Group[] {
  return [...Map.groupBy(tests, placeOf)].flatMap(([place, all]) => {
    const byName = new Map(all.map((test) => [nameOf(test), test]));
    return byName.size === all.length ? [{ place, tests: all, byName }] : [];
  });
}

function basesOf(tests: readonly Named[]): Base[] {
  return [...Map.groupBy(tests, ({ parts }) => `${parts.place}\0${parts.own}`).values()].flatMap((all) => {
    const rows = new Map(all.map((test) => [test.parts.row, test]));
    return rows.size === all.length && all[0] ? [{ own: all[0].parts.own, rows }] : [];
  });
}

const hasSameRows = ({ rows }: Base, other: Base): boolean =>
  rows.size === other.rows.size && [...rows.keys()].every((row) => other.rows.has(row));

interface Candidate<T> {
  from: T;
  to: T;
  score: number;
}

/** Pairs of which each is the best of the other, by a lead over the next. */
function mutualBest<T>(candidates: readonly Candidate<T>[], lead: number): Candidate<T>[] {
  const best = (of: (one: Candidate<T>) => T) =>
    new Map(
      [...Map.groupBy(candidates, of)].map(([key, all]) => {
        const [first, second] = all.toSorted((a, b) => b.score - a.score);
        const isClear = first && (!second || first.score - second.score >= lead);
        return [key, isClear ? first : undefined];
      }),
    );
  const ofFrom = best(({ from }) => from);
  const ofTo = best(({ to }) => to);
  return candidates.filter((one) => ofFrom.get(one.from) === one && ofTo.get(one.to) === one);
}
