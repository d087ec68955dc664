import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { type Grant, grantsFor, serviceGrantsFor } from '../../src/clickhouse/grants.ts';

const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

test('the documents list the rights that doctor prints, and those of a service, each with its purpose', () => {
  const listed = [...operations.matchAll(/^\| `(GRANT [^`]+)` \| (?:on a cluster, )?(.+) \|$/gm)];
  expect(listed.map(([, statement = '', purpose = '']): Grant => ({ statement, purpose }))).toEqual([
    ...grantsFor(true),
    ...serviceGrantsFor(true),
  ]);
});

test.each([grantsFor, serviceGrantsFor])('a cluster needs the rights that a server does, and more', (rightsFor) => {
  expect(rightsFor(true).slice(0, rightsFor(false).length)).toEqual([...rightsFor(false)]);
});
