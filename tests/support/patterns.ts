/** Every regular expression in the sources, and texts that make a bad one slow. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Glob } from 'bun';

interface FoundPattern {
  /** Where it is, as `file:line`. */
  place: string;
  pattern: RegExp;
}

interface Patterns {
  literals: FoundPattern[];
  /** Files that make some at run time. */
  makers: string[];
}

/** The regular expressions of the files that a glob names, below the root. */
export function patternsIn(root: string, globs: readonly string[]): Patterns {
  const files = globs.flatMap((glob) => [...new Glob(glob).scanSync({ cwd: root })]).sort();
  const found: Patterns = { literals: [], makers: [] };
  for (const file of files) {
    if (/\/(?:dist|gen|node_modules)\//.test(file)) continue;
    const source = readFileSync(join(root, file), 'utf8');
    if (source.includes('new RegExp(')) found.makers.push(file);
    for (const { line, pattern } of literalsOf(source)) found.literals.push({ place: `${file}:${line}`, pattern });
  }
  return found;
}

/** Before a regular expression, never before a division or in the middle of markup. */
const BEFORE = /(?:[(,=:[!&|?;+]|=>|\b(?:return|case|typeof))\s*$/;
const LITERAL = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\\\]\n]|\\.)*\])+\/([dgimsuvy]*)/y;

function literalsOf(source: string): { line: number; pattern: RegExp }[] {
  const found: { line: number; pattern: RegExp }[] = [];
  for (let at = source.indexOf('/'); at >= 0; at = source.indexOf('/', at + 1)) {
    const lineStart = source.lastIndexOf('\n', at) + 1;
    const before = source.slice(lineStart, at);
    if (/^\s*(?:\*|\/\/|\/\*)/.test(before) || /(?:^|\s)\/\/ /.test(before)) continue;
    const isFirst = before.trim() === '' && BEFORE.test(source.slice(Math.max(0, lineStart - 40), lineStart));
    if (!isFirst && !BEFORE.test(before)) continue;
    LITERAL.lastIndex = at;
    const match = LITERAL.exec(source);
    if (!match) continue;
    const [text, flags = ''] = match;
    const body = text.slice(1, text.length - 1 - flags.length);
    try {
      found.push({ line: source.slice(0, at).split('\n').length, pattern: new RegExp(body, flags) });
      at += text.length - 1;
    } catch {
      // Something else between two slashes.
    }
  }
  return found;
}

const SAMPLES = [
  'a',
  'A',
  '0',
  '_',
  '-',
  '.',
  '/',
  '\\',
  ':',
  ' ',
  '\n',
  '"',
  '<',
  '[',
  '(',
  ',',
  '=',
  '@',
  '*',
  ';',
  'é',
];
const ENDS = ['', '\u0001'];

/** The texts to repeat: characters of all kinds, and the words of the pattern, alone and in pairs. */
function pumpsOf({ source }: RegExp): Set<string> {
  const words = (source.replace(/\\[a-zA-Z]|\[\^/g, ' ').match(/[A-Za-z0-9_<>#!-]{2,12}/g) ?? []).slice(0, 8);
  const marks = SAMPLES.filter((one) => /\w/.test(one) || source.includes(one) || one === ' ' || one === '-');
  const parts = [...new Set([...words, ...marks])];
  return new Set([...SAMPLES, ...words, ...parts.flatMap((one) => parts.map((other) => one + other))]);
}

const SHORT = 2_000;
const LONG = 4 * SHORT;
/** Less than this for the long text is no matter: a quadratic pattern takes a hundred times as much. */
const HARMLESS_MS = 0.5;
/** Four times the text takes a linear pattern four times as long, and a quadratic one sixteen times. */
const GROWTH_MAX = 9;
const MEASURED_MAX = 4;
const TRIES = 6;

const textOf = (pump: string, end: string, length: number): string =>
  pump.repeat(Math.ceil(length / pump.length)).slice(0, length) + end;

function millisecondsOf(pattern: RegExp, text: string): number {
  const startedAt = performance.now();
  if (pattern.global) text.replace(pattern, '');
  else pattern.exec(text);
  return performance.now() - startedAt;
}

/** The quickest of some tries: other programs only make it slower. */
const least = (pattern: RegExp, text: string): number =>
  Math.min(...Array.from({ length: TRIES }, () => millisecondsOf(pattern, text)));

/** The text that takes more than linear time, if there is one: what is repeated, and how the time grows. */
export function slowness(pattern: RegExp): string | undefined {
  for (const pump of pumpsOf(pattern))
    for (const end of ENDS) {
      const long = textOf(pump, end, LONG);
      if (millisecondsOf(pattern, long) < HARMLESS_MS || millisecondsOf(pattern, long) < HARMLESS_MS) continue;
      const short = textOf(pump, end, SHORT);
      // Measured again: the machine may have done something else meanwhile.
      let growth = Number.POSITIVE_INFINITY;
      for (let i = 0; i < MEASURED_MAX && growth > GROWTH_MAX; i++)
        growth = Math.min(growth, least(pattern, long) / least(pattern, short));
      if (growth > GROWTH_MAX) return `${JSON.stringify(pump)} repeated: ${growth.toFixed(0)} times as long`;
    }
  return undefined;
}
