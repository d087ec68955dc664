/**
 * A connection that sends one statement after another. The repositories of a pass are evaluated side by side in one
 * transaction, so they ask at the same time; the client of PostgreSQL will no longer put such statements in line itself.
 */
import pg from 'pg';

type Send = (...args: unknown[]) => unknown;

export class InTurn extends pg.Client {
  constructor(config?: pg.ClientConfig) {
    super(config);
    const send: Send = this.query.bind(this) as Send;
    let last: Promise<unknown> = Promise.resolve();
    let unanswered = 0;
    const query: Send = (...args) => {
      // The pool's own statements and cursors have the connection for themselves.
      if (typeof args.at(-1) === 'function' || isCursor(args[0])) return send(...args);
      const answer = unanswered === 0 ? Promise.resolve(send(...args)) : last.then(() => send(...args));
      unanswered++;
      last = answer.catch(() => {}).finally(() => unanswered--);
      return answer;
    };
    Object.assign(this, { query });
  }
}

const isCursor = (statement: unknown): boolean =>
  typeof statement === 'object' && statement !== null && 'submit' in statement;
