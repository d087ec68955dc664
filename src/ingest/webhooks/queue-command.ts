/**
 * Commands to a merge queue in comments. The rule is the one that Mergify documents for its own: a command starts the comment,
 * after `@mergifyio` or `@mergify` in any case and one space; its arguments stand on the same line, and later lines are
 * no part of it. `requeue` is an older word for `queue`, `unqueue` for `dequeue`.
 */
export interface QueueCommand {
  type: 'command.queue' | 'command.dequeue';
  /** The line as it was written, without white space around it. */
  line: string;
  /** The first argument of `queue`; null when there is none. */
  queueName: string | null;
}

const COMMAND = /^@mergify(?:io)? (queue|requeue|dequeue|unqueue)(?:[ \t]+(\S+).*)?$/i;

/** The queue command that a comment is, or null. */
export function queueCommandOf(comment: string): QueueCommand | null {
  const line = comment.split(/\r|\n/, 1)[0]?.trimEnd() ?? '';
  const [, word, argument] = COMMAND.exec(line) ?? [];
  if (word === undefined) return null;
  const isQueue = /^(?:re)?queue$/i.test(word);
  return {
    type: isQueue ? 'command.queue' : 'command.dequeue',
    line,
    queueName: isQueue ? (argument ?? null) : null,
  };
}
