/** Which comments are queue commands, as Mergify documents it. */
import { describe, expect, test } from 'bun:test';
import { queueCommandOf } from '../../src/hosts/webhooks/queue-command.ts';

describe('a comment is a queue command', () => {
  test.each([
    ['@mergifyio queue', 'command.queue', null],
    ['@Mergifyio queue', 'command.queue', null],
    ['@MERGIFY QUEUE', 'command.queue', null],
    ['@mergify queue hotfix', 'command.queue', 'hotfix'],
    ['@mergifyio queue  hotfix now', 'command.queue', 'hotfix'],
    ['@mergifyio requeue', 'command.queue', null],
    ['@mergifyio dequeue', 'command.dequeue', null],
    ['@mergifyio dequeue hotfix', 'command.dequeue', null],
    ['@mergifyio unqueue', 'command.dequeue', null],
    ['@mergifyio queue \r\nplease', 'command.queue', null],
    ['@mergifyio queue\n@mergifyio dequeue', 'command.queue', null],
  ] as const)('%j is %s of %p', (comment, type, queueName) => {
    const line = comment.split(/\r|\n/)[0]?.trimEnd() as string;
    expect(queueCommandOf(comment)).toEqual({ type, line, queueName });
  });

  test.each([
    '',
    'queue',
    '/queue',
    'Please @mergifyio queue',
    'Thanks!\n@mergifyio queue',
    '> @mergifyio queue',
    '@mergifyio  queue',
    '@mergifyio\nqueue',
    '@mergifyio queueing',
    '@mergifyio queue-all',
    '@mergifyioo queue',
    '@mergifyio rebase',
    '@mergifyio update queue',
  ])('%j is not one', (comment) => {
    expect(queueCommandOf(comment)).toBeNull();
  });
});
