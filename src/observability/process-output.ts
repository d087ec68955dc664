/**
 * Turns what libraries print, and what is thrown and never caught, into lines of the log: they print stack traces of
 * several lines, with whatever the error holds, and the log is one JSON object per line without secrets.
 */
import { formatWithOptions } from 'node:util';
import type { Logger } from './log.ts';

/** How much of what a library prints is kept. */
const LENGTH_MAX = 10_000;
const LEVELS = { error: 'warn', warn: 'warn', trace: 'debug', log: 'info', info: 'info', debug: 'debug' } as const;

/** Takes over `console`, standard error and uncaught errors for the rest of the process. For the service only. */
export function logProcessOutput(log: Logger): void {
  for (const [method, level] of Object.entries(LEVELS) as [keyof typeof LEVELS, 'debug' | 'info' | 'warn'][])
    console[method] = (...printed: unknown[]) => {
      const err = printed.find((value) => value instanceof Error);
      const rest = printed.filter((value) => value !== err);
      log[level]({ err }, rest.length > 0 ? textOf(rest) : 'a library printed an error');
    };
  process.stderr.write = (printed: string | Uint8Array): boolean => {
    const text = (typeof printed === 'string' ? printed : new TextDecoder().decode(printed)).trim();
    if (text !== '') log.warn(text.slice(0, LENGTH_MAX));
    return true;
  };
  // One request's stray promise must not end the service for all.
  process.on('unhandledRejection', (reason) => log.error({ err: reason }, 'a promise was rejected without a handler'));
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'an uncaught error ends the process; the next start finishes its work');
    process.exit(1);
  });
}

const textOf = (values: readonly unknown[]): string =>
  formatWithOptions({ colors: false, depth: 2 }, ...values).slice(0, LENGTH_MAX);
