/**
 * Commands to a merge queue in comments, by the rule that Mergify documents: a command is at the start of the comment,
 * after `@mergifyio` or `@mergify` in any case and one space. Its arguments are on the same line; later lines do not
 * belong to it. `requeue` is an older word for `queue`, `unqueue` for `dequeue`.
 */
export interface QueueCommand {
  type: 'command.queue' | 'command.dequeue';
  /** The line as written, without trailing white space. */
  line: string;
  /** The first argument of `queue`; null if there is none. */
  queueName: string | null;
}

const COMMAND = /^@mergify(?:io)? (queue|requeue|dequeue|unqueue)(?:[ \t]+(\S+).*)?$/i;

/** The queue command in a comment, or null. */
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
