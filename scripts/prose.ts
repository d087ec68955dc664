/**
 * Checks the text of the repository: comments, messages, pages and test names. Text that ships must stand alone, so it
 * refers to nothing that does not ship, and it must read as plain English. `bun scripts/prose.ts [path…]` prints what
 * it finds; `tests/unit/references.test.ts` runs it over everything.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, resolve } from 'node:path';
import { Glob } from 'bun';

/** Where people read: code, pages, scripts and deployment files. Generated code and recorded data are left out. */
const TEXT_FILES = [
  '*.md',
  'docs/*.{md,yaml,json,xml}',
  '{src,workers,scripts}/**/*.ts',
  'tests/**/*.{ts,tsx,js,mjs,py,sh}',
  'sql/**/*.sql',
  '{compose.yaml,Dockerfile,.env.example,bunfig.toml,drizzle.config.ts}',
  '.ci/run',
];
const LEFT_OUT = [
  'src/ingest/otlp/gen/',
  'tests/fixtures/',
  // Generated from schemas whose texts are checked where they are written.
  'docs/pr-events.v1.schema.json',
  'docs/test-runs.v1.schema.json',
  // These name what is refused.
  'scripts/prose.ts',
  'tests/unit/references.test.ts',
];

/** References to documents that do not ship. */
const UNSHIPPED: readonly RegExp[] = [
  /\b(?:design|spec|house|storage|truth|attack) §/i,
  /\(storage:/,
  /\bthe (?:prototype|design document|design's)\b/i,
  /\bthe design (?:says|asks|settles|gives|wants)\b/i,
  /\b(?:design|spec|house|storage|engineering|truth|attack|reads)\.md\b/,
  /\.\.\/shared\/[\w-]+\.md\b/,
];

interface Phrase {
  pattern: RegExp;
  instead: string;
}

/** Phrases that a native reader stumbles over. */
const PHRASES: readonly Phrase[] = [
  { pattern: /\banew\b/i, instead: 'again, from scratch' },
  { pattern: /\bwhoever\b/i, instead: 'anyone who, the caller' },
  // In quotes it is the system account.
  { pattern: /(?<!['"`])\bnobody\b(?!['"`])/i, instead: 'no one, nothing, or active voice' },
  { pattern: /\bt(?:old|ells?|elling) of\b/i, instead: 'notified of, describes, reports' },
  { pattern: /\bof (?:its|their|our|your|his|her) own\b/i, instead: 'its own …, separate' },
  { pattern: /\bby (?:itself|themselves)\b/i, instead: 'automatically, alone' },
  { pattern: /\blook whether\b/i, instead: 'check whether' },
  { pattern: /\b(?:goes|went|gone) on\b/i, instead: 'continues' },
  { pattern: /\bmend(?:s|ed|ing)?\b/i, instead: 'fix' },
  { pattern: /\b(?:split|cut|named|sent|done|written) otherwise\b/i, instead: 'differently' },
  { pattern: /\b(?:that|it|this|which|who) is no (?!longer|more)/i, instead: 'is not a' },
  { pattern: /\bheld against\b/i, instead: 'compared with' },
  { pattern: /\bout of tries\b/i, instead: 'out of attempts' },
  { pattern: /\bmade good\b/i, instead: 'repaired, completed' },
  { pattern: /\b(?:is|are) of (?:a|an|the|this|its|that)\b/i, instead: 'belongs to, is for' },
  { pattern: /\b(?:comes|came) of\b/i, instead: 'results from' },
  { pattern: /\bshall\b/i, instead: 'must, should' },
  { pattern: /\bdearest?\b/i, instead: 'most expensive' },
  { pattern: /\bsomebody\b(?!-)/i, instead: 'someone' },
  { pattern: /\bput right\b/i, instead: 'fixed, corrected' },
];

/** The files that are checked, by path from the root; below `paths` when any are given. */
export function textFiles(root: string, paths: readonly string[] = ['']): string[] {
  const files = TEXT_FILES.flatMap((pattern) => [...new Glob(pattern).scanSync({ cwd: root, dot: true })]);
  return [...new Set(files)]
    .filter((file) => !LEFT_OUT.some((prefix) => file.startsWith(prefix)))
    .filter((file) => paths.some((path) => file === path || file.startsWith(path === '' ? '' : `${path}/`)))
    .sort();
}

/** Every sentence about a reference to something that does not ship. */
export const unshippedReferences = (file: string, text: string): string[] =>
  matches(text, UNSHIPPED).map(
    ({ line, found }) => `${file}:${line}: '${found}' refers to a document that does not ship`,
  );

/** Every sentence about a phrase to avoid. In pages, code is left out: it may quote such a phrase. */
export function bannedPhrases(file: string, text: string): string[] {
  const prose = file.endsWith('.md') ? text.replace(/`[^`\n]+`/g, (code) => ' '.repeat(code.length)) : text;
  return PHRASES.flatMap(({ pattern, instead }) =>
    matches(prose, [pattern]).map(({ line, found }) => `${file}:${line}: '${found}': write ${instead}`),
  );
}

/** Every link of a page, and every mention of a page in any text, that leads nowhere. */
export function danglingLinks(root: string, file: string, text: string): string[] {
  const links = file.endsWith('.md') ? targets(text, /\]\((?!https?:|mailto:)([^)\s]+)\)/g, dirname(file)) : [];
  const mentions = targets(text, /(?<![\w/.-])(docs\/[\w-]+\.md(?:#[\w-]+)?)/g, '.');
  return [...links, ...mentions].flatMap(({ line, target }) => {
    const [path = '', anchor] = target.split('#');
    const page = path === '' ? file : normalize(path);
    if (!existsSync(join(root, page))) return `${file}:${line}: ${page} does not exist`;
    if (anchor === undefined || !page.endsWith('.md')) return [];
    const anchors = anchorsOf(readFileSync(join(root, page), 'utf8'));
    return anchors.includes(anchor) ? [] : `${file}:${line}: ${page} has no heading #${anchor}`;
  });
}

/**
 * Every path of the repository that a page or a comment names and that does not exist. Placeholders such as `<name>`
 * are left out, and so are strings in code: tests make up paths.
 */
export function danglingPaths(root: string, file: string, text: string): string[] {
  const prose = file.endsWith('.md') ? text : text.replace(/^(?!\s*(?:\/\/|\/?\*|--|#)).*$/gm, '');
  const path = /(?<![\w/.@<-])((?:src|workers|sql|tests|scripts|proto|docs)\/[\w./*{},<>-]*\w)/g;
  return targets(prose, path, '.').flatMap(({ line, target }) => {
    if (/[<>]|NNNN/.test(target)) return [];
    const exists = /[*{]/.test(target)
      ? !new Glob(target).scanSync({ cwd: root, onlyFiles: false }).next().done
      : existsSync(join(root, target));
    return exists ? [] : `${file}:${line}: ${target} does not exist`;
  });
}

const LINE_LENGTH_MAX = 130;

/**
 * Every line of a page that is too long to read in a terminal or a diff. The rows of a table that a program printed, which
 * the page quotes, cannot be broken.
 */
export const longLines = (file: string, text: string): string[] =>
  text
    .split('\n')
    .flatMap((content, i) =>
      !content.startsWith('> |') && [...content].length > LINE_LENGTH_MAX
        ? `${file}:${i + 1}: ${[...content].length} characters`
        : [],
    );

function matches(text: string, patterns: readonly RegExp[]): { line: number; found: string }[] {
  return text.split('\n').flatMap((content, i) =>
    patterns.flatMap((pattern) => {
      const found = pattern.exec(content)?.[0];
      return found === undefined ? [] : { line: i + 1, found };
    }),
  );
}

function targets(text: string, pattern: RegExp, folder: string): { line: number; target: string }[] {
  return text.split('\n').flatMap((content, i) =>
    [...content.matchAll(pattern)].map(([, target = '']) => ({
      line: i + 1,
      target: target.startsWith('#') ? target : normalize(join(folder, target)),
    })),
  );
}

/** The anchors of a page's headings, as hosts make them: lower case, punctuation dropped, spaces to hyphens. */
const anchorsOf = (page: string): string[] =>
  [...page.replace(/^```.*?^```/gms, '').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );

/** Everything that is wrong with the text of a file. */
export function problemsOf(root: string, file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8');
  return [
    ...unshippedReferences(file, text),
    ...bannedPhrases(file, text),
    ...danglingLinks(root, file, text),
    ...danglingPaths(root, file, text),
    ...(file.endsWith('.md') ? longLines(file, text) : []),
  ];
}

if (import.meta.main) {
  const root = resolve(import.meta.dir, '..');
  const paths = process.argv.slice(2).map((path) => normalize(path).replace(/\/$/, ''));
  const problems = textFiles(root, paths.length > 0 ? paths : undefined).flatMap((file) => problemsOf(root, file));
  for (const problem of problems) console.log(problem);
  console.log(`${problems.length} problems in the text`);
  process.exit(problems.length > 0 ? 1 : 0);
}
