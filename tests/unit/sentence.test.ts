/** Messages of commands that fail. */
import { expect, test } from 'bun:test';
import { DrizzleQueryError } from 'drizzle-orm';
import { sentenceOf } from '../../src/cli/sentence.ts';
import { StoreUnavailable, UserError } from '../../src/errors.ts';

const refused = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' });

test.each<[string, unknown, string]>([
  ['a mistake of the user', new UserError('There is no such key.'), 'There is no such key.'],
  ['the first line of any other error', new Error('one\ntwo'), 'Failed: one'],
  ['what PostgreSQL said, not the statement', statement(new Error('deadlock detected')), 'Failed: deadlock detected'],
  ['the statement, if nothing else is known', new Error('Failed query: select 1'), 'Failed: Failed query: select 1'],
])('%s', (_, error, sentence) => {
  expect(sentenceOf(error)).toBe(sentence);
});

test('which store to look at', () => {
  for (const error of [new StoreUnavailable('postgres'), refused, statement(refused)])
    expect(sentenceOf(error)).toEndWith('Check that it is running and that its address is correct, then try again.');
});

function statement(cause: Error): Error {
  return new DrizzleQueryError('\n  alter table t add column c text', [], cause);
}
