import { describe, expect, test } from 'bun:test';
import { parseOwner, parseRepositoryName } from '../../src/client/parse.ts';
import { owner, repository } from '../../src/http/path.ts';
import { prEventsSchema } from '../../src/queue/pr-events.ts';
import { testRunsSchema } from '../../src/queue/test-runs.ts';
import { makeJob } from '../support/jobs.ts';

const accepts = (parse: (value: string) => unknown) => (value: string) => {
  try {
    parse(value);
    return true;
  } catch {
    return false;
  }
};
const testRuns = makeJob({ repository: { owner: 'acme', name: 'shop' }, receivedAt: 0, executions: [] });
const testRunsOf = (path: object) =>
  testRunsSchema.parse({ ...testRuns, repository: { ...testRuns.repository, ...path } });
const prEventsOf = (path: object) =>
  prEventsSchema.parse({ v: 1, repository: { owner: 'acme', name: 'shop', ...path } });
const renamedFrom = (path: object) =>
  prEventsSchema.parse({
    v: 1,
    repository: { owner: 'acme', name: 'shop' },
    renamed_from: { owner: 'acme', name: 'shop', ...path },
  });

const READERS_OF_NAMES: [string, (name: string) => unknown][] = [
  ['the path of a request', (name) => repository.parse(name)],
  ['a test-runs job', (name) => testRunsOf({ name })],
  ['a pr-events job', (name) => prEventsOf({ name })],
  ['a rename in a pr-events job', (name) => renamedFrom({ name })],
  ['the command line', parseRepositoryName],
];
const READERS_OF_OWNERS: [string, (name: string) => unknown][] = [
  ['the path of a request', (name) => owner.parse(name)],
  ['a test-runs job', (name) => testRunsOf({ owner: name })],
  ['a pr-events job', (name) => prEventsOf({ owner: name })],
  ['a rename in a pr-events job', (name) => renamedFrom({ owner: name })],
  ['the command line', parseOwner],
];

describe('the same rule for owners and repository names applies to', () => {
  test.each(READERS_OF_NAMES)('%s: a name', (_, read) => {
    const isAccepted = accepts(read);
    for (const name of ['a', 'a.b_c-d', 'x'.repeat(255)]) expect(isAccepted(name)).toBe(true);
    for (const name of ['', 'x'.repeat(256), 'a/b', 'a b', 'é', 'a\n']) expect(isAccepted(name)).toBe(false);
  });
  test.each(READERS_OF_OWNERS)('%s: an owner', (_, read) => {
    const isAccepted = accepts(read);
    for (const name of ['a', 'a-b', 'x'.repeat(40)]) expect(isAccepted(name)).toBe(true);
    for (const name of ['', 'x'.repeat(41), 'a.b', 'a_b', 'é', 'a\n']) expect(isAccepted(name)).toBe(false);
  });
});
