/**
 * CODEOWNERS of GitHub and GitLab: which owners a file says a path has.
 *
 * - GitHub: the last line that matches counts; one without owners takes them away. A line with something else than owners
 *   is skipped as a whole.
 * - GitLab: lines stand in sections, `[Name][approvals] @default`, optional ones with `^` before. In each section the last
 *   line that matches counts, and the owners of all sections are owners. A line without owners has those of its section. A
 *   line with `!` takes its paths out of its section.
 */
import { type CodeownersHost, type PathPattern, type PathText, pathPattern } from './codeowners-pattern.ts';
import { NAME_LENGTH_MAX } from './limits.ts';
import { isLongerThan } from './text.ts';

/** So many patterns, and steps of matching one path against all of them, are read. */
const CODEOWNERS_RULES_MAX = 5_000;
const CODEOWNERS_COST_MAX = 200_000;
/** In characters. */
const PATTERN_LENGTH_MAX = 1_024;

export interface CodeownersRule {
  /** From 1. */
  line: number;
  /** The pattern, as the file has it. */
  pattern: string;
  owners: readonly string[];
  /** Of GitLab; empty before the first. */
  section: string;
  /** Takes paths out of its section. */
  isExclusion: boolean;
}

/** A line that is not read, or not as a whole, and why. */
export interface CodeownersProblem {
  line: number;
  reason: string;
}

/** What a path has, and the lines whose patterns match it. */
export interface PathOwners {
  owners: string[];
  lines: number[];
}

interface CompiledRule extends CodeownersRule {
  compiled: PathPattern;
}

const SECTION = /^\^?\[([^\]]+)\](?:\[\d*\])?(?:\s+(.*))?$/;
/** Words, between which white space without a `\` stands. */
const WORDS = /(?:\\\s|\S)+/g;
const MENTION = /^@[\w.-]+(?:\/[\w.-]+)*$/;
const ROLE = /^@@[a-z]+$/;
const EMAIL = /^[^@\s]+@[^@\s]+$/;

const isOwner = (word: string, host: CodeownersHost): boolean =>
  !isLongerThan(word, NAME_LENGTH_MAX) &&
  (MENTION.test(word) || EMAIL.test(word) || (host === 'gitlab' && ROLE.test(word)));

export class Codeowners {
  readonly rules: readonly CodeownersRule[];
  readonly problems: readonly CodeownersProblem[];
  readonly #rules: readonly CompiledRule[];
  readonly #rooted: readonly PathPattern[];

  constructor(text: string, host: CodeownersHost) {
    const { rules, problems } = read(text, host);
    this.problems = problems;
    this.#rules = rules.map((rule) => ({
      ...rule,
      compiled: pathPattern(rule.isExclusion ? rule.pattern.slice(1) : rule.pattern, host),
    }));
    this.rules = rules;
    this.#rooted = this.#rules.filter(({ compiled }) => compiled.isRooted).map(({ compiled }) => compiled);
  }

  /** The steps that it takes at most to match one path. */
  get cost(): number {
    return this.#rules.reduce((sum, { compiled }) => sum + compiled.cost, 0);
  }

  ownersOf(path: PathText): PathOwners {
    const lines: number[] = [];
    const bySection = new Map<string, CompiledRule>();
    const excluded = new Set<string>();
    for (const rule of this.#rules) {
      if (!rule.compiled.matches(path)) continue;
      lines.push(rule.line);
      if (rule.isExclusion) excluded.add(rule.section);
      else bySection.set(rule.section, rule);
    }
    const counted = [...bySection.values()].filter(({ section }) => !excluded.has(section));
    return { owners: [...new Set(counted.flatMap(({ owners }) => owners))], lines };
  }

  /** Whether a pattern that begins at the root matches: then the path probably begins there. */
  hasRooted(path: PathText): boolean {
    return this.#rooted.some((pattern) => pattern.matches(path));
  }
}

function read(text: string, host: CodeownersHost): { rules: CodeownersRule[]; problems: CodeownersProblem[] } {
  const rules: CodeownersRule[] = [];
  const problems: CodeownersProblem[] = [];
  let section = { name: '', owners: [] as readonly string[] };
  for (const [i, raw] of text.split(/\r\n|\r|\n/).entries()) {
    const line = i + 1;
    const trimmed = raw.trim();
    if (trimmed === '' || trimmed.startsWith('#')) continue;
    const heading = host === 'gitlab' && SECTION.exec(trimmed);
    if (heading) {
      const { owners, strange } = ownersIn(wordsOf(heading[2] ?? ''), host);
      for (const word of strange) problems.push({ line, reason: `${word} is no owner` });
      section = { name: (heading[1] ?? '').trim().toLowerCase(), owners };
      continue;
    }
    const [pattern = '', ...words] = wordsOf(trimmed);
    const { owners, strange } = ownersIn(words, host);
    const fault = faultOf(pattern, strange, host);
    if (fault !== undefined) problems.push({ line, reason: fault });
    if (fault !== undefined && (host === 'github' || isLongerThan(pattern, PATTERN_LENGTH_MAX))) continue;
    const isExclusion = host === 'gitlab' && pattern.startsWith('!');
    const ofSection = words.length === 0 && host === 'gitlab' ? section.owners : owners;
    rules.push({ line, pattern, owners: isExclusion ? [] : ofSection, section: section.name, isExclusion });
  }
  return { rules, problems };
}

/** The words of a line before a comment. */
function wordsOf(line: string): string[] {
  const words: string[] = line.match(WORDS) ?? [];
  const comment = words.findIndex((word) => word.startsWith('#'));
  return comment === -1 ? words : words.slice(0, comment);
}

const ownersIn = (words: readonly string[], host: CodeownersHost) => ({
  owners: [...new Set(words.filter((word) => isOwner(word, host)))],
  strange: words.filter((word) => !isOwner(word, host)),
});

function faultOf(pattern: string, strange: readonly string[], host: CodeownersHost): string | undefined {
  if (isLongerThan(pattern, PATTERN_LENGTH_MAX)) return `the pattern is longer than ${PATTERN_LENGTH_MAX} characters`;
  if (host === 'github' && pattern.startsWith('!')) return 'GitHub knows no pattern that begins with !';
  return strange[0] === undefined ? undefined : `${shown(strange[0])} is no owner`;
}

const shown = (word: string): string => (isLongerThan(word, 100) ? `${word.slice(0, 100)}…` : word);

/** Why a text cannot be taken as CODEOWNERS, or null. */
export function codeownersRejection(file: Codeowners): string | null {
  if (file.rules.length > CODEOWNERS_RULES_MAX) return `holds more than ${CODEOWNERS_RULES_MAX} patterns`;
  if (file.cost > CODEOWNERS_COST_MAX) return `holds patterns of more than ${CODEOWNERS_COST_MAX} characters in all`;
  return null;
}
