/** The image as a builder reads it: from the files that are committed, through .dockerignore. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isIgnored, patternsOf, stagesOf } from '../support/image-context.ts';

const ROOT = resolve(import.meta.dir, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const listed = Bun.spawnSync(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
const committed = listed.stdout.toString().split('\0').filter(Boolean);
const patterns = patternsOf(read('.dockerignore'));
const context = committed.filter((file) => !isIgnored(patterns, file));
const stages = stagesOf(read('Dockerfile'));
const isBelow = (file: string, source: string): boolean => file === source || file.startsWith(`${source}/`);

describe('the rules of .dockerignore', () => {
  test.each([
    ['*', 'a/b', true],
    ['*\n!a', 'a/b', false],
    ['*\n!a\na/b', 'a/b/c', true],
    ['*\n!a\na/b', 'a/bc', false],
    ['*.txt', 'docs/a.txt', false],
    ['**/*.txt', 'docs/a.txt', true],
    ['**/*.txt', 'a.txt', true],
    ['/docs/', 'docs/a.txt', true],
    ['a?c', 'abc', true],
    ['a[bx]c', 'axc', true],
    ['# a\n\n', 'a', false],
    ['!a\n*', 'a', true],
  ])('%j on %s', (text, path, expected) => {
    expect(isIgnored(patternsOf(text), path)).toBe(expected);
  });
});

describe('the Dockerfile', () => {
  test('copies only what is committed and let through', () => {
    expect(stages.map(({ name }) => name)).toEqual(['dependencies', 'web', '2']);
    for (const { steps } of stages)
      for (const step of steps)
        if (step.kind === 'copy' && step.from === undefined)
          for (const source of step.sources) {
            const files = committed.filter((file) => isBelow(file, source));
            const let_through = context.filter((file) => isBelow(file, source));
            expect([source, files.length > 0, let_through.length]).toEqual([source, true, files.length]);
          }
  });

  test('copies everything that is let through', () => {
    const copied = new Set(stages.flatMap(({ steps }) => steps.flatMap((s) => (s.kind === 'copy' ? s.sources : []))));
    expect(context.filter((file) => ![...copied].some((source) => isBelow(file, source)))).toEqual([]);
  });

  test('copies from a stage only what is made or copied there', () => {
    for (const { steps } of stages)
      for (const step of steps) {
        if (step.kind !== 'copy' || step.from === undefined) continue;
        const from = stages.find(({ name }) => name === step.from);
        const commands = from?.steps.flatMap((one) => (one.kind === 'run' ? [one.command] : [])).join('\n') ?? '';
        for (const source of step.sources)
          expect([
            source,
            /node_modules$/.test(source) ? /bun install/.test(commands) : /web\/build/.test(commands),
          ]).toEqual([source, true]);
      }
  });

  test('has, before each installation, what the lock file was made from: every package, and how they are linked', () => {
    const manifests = committed.filter((file) => /^packages\/[^/]+\/package\.json$/.test(file));
    expect(manifests.length).toBeGreaterThan(3);
    let installations = 0;
    for (const { name, steps } of stages) {
      const at = steps.findIndex((step) => step.kind === 'run' && step.command.includes('bun install'));
      if (at < 0) continue;
      installations++;
      const sources = steps.slice(0, at).flatMap((step) => (step.kind === 'copy' ? step.sources : []));
      for (const file of ['package.json', 'bun.lock', 'bunfig.toml', ...manifests])
        expect([name, file, sources.some((source) => isBelow(file, source))]).toEqual([name, file, true]);
    }
    expect(installations).toBe(2);
  });

  test('runs as a user that Kubernetes can tell from root', () => {
    expect(stages.at(-1)?.user).toMatch(/^[1-9]\d*$/);
  });
});
