import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { grantsFor } from '../../src/clickhouse/grants.ts';

const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

test('the documents list the rights that doctor prints, each with its purpose', () => {
  const listed = [...operations.matchAll(/^\| `(GRANT [^`]+)` \| (?:on a cluster, )?(.+) \|$/gm)];
  expect(listed.map(([, statement, purpose]) => ({ statement, purpose }))).toEqual([...grantsFor(true)]);
  expect(grantsFor(true).slice(0, grantsFor(false).length)).toEqual([...grantsFor(false)]);
});
