import { describe, expect, test } from 'bun:test';
import { resolve } from 'node:path';
import {
  bannedPhrases,
  danglingLinks,
  danglingPaths,
  longLines,
  problemsOf,
  textFiles,
  unshippedReferences,
} from '../../scripts/prose.ts';

const ROOT = resolve(import.meta.dir, '../..');

test('all text stands alone, leads somewhere and reads well', () => {
  const files = textFiles(ROOT);
  expect(files.length).toBeGreaterThan(400);
  expect(files.flatMap((file) => problemsOf(ROOT, file))).toEqual([]);
});

test('code, pages, SQL, tests, scripts and deployment files are all read; recorded data and generated code are not', () => {
  const files = textFiles(ROOT);
  for (const file of ['README.md', 'docs/api.md', 'docs/alerts.yaml', 'src/main.ts', 'workers/main.ts', 'compose.yaml'])
    expect(files).toContain(file);
  for (const part of ['sql/queries/', 'sql/clickhouse/', 'tests/unit/', 'scripts/', '.ci/'])
    expect(files.some((file) => file.startsWith(part))).toBeTrue();
  for (const part of ['tests/fixtures/', '/gen/', 'node_modules/'])
    expect(files.filter((file) => file.includes(part))).toEqual([]);
});

describe('refused', () => {
  const unshipped = [
    '(design §4)',
    'spec §2.1',
    '(storage: 74,000 a second)',
    'as the prototype did',
    '../shared/x.md',
  ];
  for (const text of unshipped)
    test(`a reference to a document that does not ship: ${text}`, () => {
      expect(unshippedReferences('x.ts', text)).toHaveLength(1);
    });

  const phrases = [
    'Folds the history anew.',
    'Whoever starts first migrates.',
    'Nobody replayed them.',
    'It is told of every change.',
    'A port of its own.',
    'Recovers by itself.',
    'Look whether it runs.',
    'It goes on from a checkpoint.',
    'Once it is mended, replay it.',
    'The same report, split otherwise.',
    'A store that is down is no such case: this is no job.',
  ];
  for (const text of phrases)
    test(`a phrase that reads badly: ${text}`, () => {
      expect(bannedPhrases('x.ts', text).length).toBeGreaterThan(0);
    });

  test('a link to a page or a heading that does not exist', () => {
    expect(danglingLinks(ROOT, 'docs/x.md', '[a](decisions.md#limits) [b](decisions.md#nothing) [c](gone.md)')).toEqual(
      ['docs/x.md:1: docs/decisions.md has no heading #nothing', 'docs/x.md:1: docs/gone.md does not exist'],
    );
    expect(danglingLinks(ROOT, 'src/x.ts', '// docs/decisions.md#nothing, docs/decisions.md#queues')).toEqual([
      'src/x.ts:1: docs/decisions.md has no heading #nothing',
    ]);
  });

  test('a path that does not exist, in pages and comments', () => {
    const text = '`src/main.ts` `src/gone.ts` `tests/unit/*.test.ts` `tests/unit/*.gone.ts` `sql/queries/<feature>`';
    const gone = (file: string) => [
      `${file}:1: src/gone.ts does not exist`,
      `${file}:1: tests/unit/*.gone.ts does not exist`,
    ];
    expect(danglingPaths(ROOT, 'docs/x.md', text)).toEqual(gone('docs/x.md'));
    expect(danglingPaths(ROOT, 'src/x.ts', `// ${text}`)).toEqual(gone('src/x.ts'));
    expect(danglingPaths(ROOT, 'src/x.ts', `const example = '${text}';`)).toEqual([]);
  });

  test('a line of more than 130 characters in a page', () => {
    expect(longLines('docs/x.md', `${'x'.repeat(130)}\n${'x'.repeat(131)}\n> | ${'x'.repeat(131)} |`)).toEqual([
      'docs/x.md:2: 131 characters',
    ]);
  });
});

test('ordinary English passes', () => {
  for (const text of [
    'There is no row for it, and it is no longer asked for.',
    "PostgreSQL runs under the uid of 'nobody'.",
    'Otherwise the upload is refused.',
    'Tell them apart by index.',
  ])
    expect(bannedPhrases('x.ts', text)).toEqual([]);
  expect(bannedPhrases('x.md', 'Avoid `anew` and `whoever`.')).toEqual([]);
  expect(unshippedReferences('x.ts', 'the design of the ledger; a spec file; storage: local')).toEqual([]);
});
