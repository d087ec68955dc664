/**
 * Who owns a test: by the rules of the repository's settings, else by its CODEOWNERS.
 *
 * CODEOWNERS speaks of files of the repository. With the list of those, the file of a test is the one that shares the
 * longest tail with the reported path, or with the class that its name begins with; if several do, the test has no owner.
 * A path that shares no name with the list, and any path without a list, is taken as it is: from the root of the
 * repository. One from the root of a machine is cut to its longest tail that a pattern from the root of the repository
 * matches, because a checkout lies in some folder.
 */
import type { Codeowners } from './codeowners.ts';
import { PathText } from './codeowners-pattern.ts';
import { type CompiledOwnerRule, compileOwnerRules, OWNERS_MAX, type OwnerRule } from './owner-rules.ts';
import { RepositoryFiles, reportedPath, tailsOf } from './test-file.ts';

export interface OwnedTest {
  name: string;
  /** As its newest execution reports it; empty when unknown. */
  file: string;
}

export interface OwnershipRules {
  rules: readonly OwnerRule[];
  codeowners: Codeowners | null;
  /** Files of the repository that may hold tests; empty: not known. */
  files: readonly string[];
}

export interface TestOwners {
  /** In the order in which they are named. */
  owners: readonly string[];
  /** Lines of CODEOWNERS whose patterns match its file, whether they count or not. */
  lines: readonly number[];
}

/** The path of a test in the repository; undefined if it is not known or not the only one. */
type FileOf = (test: OwnedTest) => PathText | undefined;

/** Finds the owners of many tests of a repository. What is found of a file is kept for its other tests. */
export class Ownership {
  readonly #codeowners: Codeowners | null;
  readonly #rules: readonly CompiledOwnerRule[];
  readonly #fileOf: FileOf;
  readonly #known = new Map<string, TestOwners>();

  constructor({ rules, codeowners, files }: OwnershipRules) {
    this.#codeowners = codeowners;
    this.#rules = compileOwnerRules(rules);
    this.#fileOf = fileFinder(files, codeowners);
  }

  ownersOf(test: OwnedTest): TestOwners {
    const file = this.#fileOf(test);
    const ofFile = file === undefined ? NO_OWNERS : this.#ofFile(file);
    const owners = this.#rules.findLast((rule) => rule.matches(test.name, file))?.owners ?? ofFile.owners;
    return { owners: owners.slice(0, OWNERS_MAX), lines: ofFile.lines };
  }

  /** The rules that match a test, by their places from 0. The last one says who owns it. */
  rulesOf(test: OwnedTest): number[] {
    const file = this.#fileOf(test);
    return this.#rules.flatMap((rule, i) => (rule.matches(test.name, file) ? [i] : []));
  }

  #ofFile(file: PathText): TestOwners {
    const known = this.#known.get(file.path) ?? this.#codeowners?.ownersOf(file) ?? NO_OWNERS;
    this.#known.set(file.path, known);
    return known;
  }
}

const NO_OWNERS: TestOwners = { owners: [], lines: [] };

function fileFinder(files: readonly string[], codeowners: Codeowners | null): FileOf {
  const listed = files.length === 0 ? undefined : new RepositoryFiles(files);
  const texts = new Map<string, PathText>();
  const textOf = (path: string): PathText => {
    const text = texts.get(path) ?? new PathText(path);
    texts.set(path, text);
    return text;
  };
  const byPath = new Map<string, PathText | 'ambiguous' | undefined>();
  const find = (file: string): PathText | 'ambiguous' | undefined => {
    const path = reportedPath(file);
    if (!path) return undefined;
    const found = listed?.ofPath(path.names);
    if (found) return found === 'ambiguous' ? found : textOf(found.path);
    const whole = textOf(path.names.join('/'));
    if (!path.isOutside || !codeowners) return whole;
    const tails = tailsOf(path.names).map((tail) => new PathText(tail));
    return tails.find((tail) => codeowners.hasRooted(tail)) ?? whole;
  };
  return ({ name, file }) => {
    if (file === '') {
      const ofClass = listed?.ofClass(name);
      return ofClass && ofClass !== 'ambiguous' ? textOf(ofClass.path) : undefined;
    }
    if (!byPath.has(file)) byPath.set(file, find(file));
    const found = byPath.get(file);
    return found === 'ambiguous' ? undefined : found;
  };
}
