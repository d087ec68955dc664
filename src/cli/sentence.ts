/** The message of a command that fails. */
import { STORE_TITLES, StoreUnavailable, UserError } from '../errors.ts';

export function sentenceOf(error: unknown): string {
  if (error instanceof UserError) return error.message;
  if (error instanceof StoreUnavailable)
    return error.advice ?? `${STORE_TITLES[error.store]} is not responding. ${CHECK_STORE}`;
  if (isOfStatement(error)) return sentenceOf(error.cause);
  const message = (error instanceof Error ? error.message : String(error)).split('\n')[0];
  return isUnreachable(error) ? `A store cannot be reached (${message}). ${CHECK_STORE}` : `Failed: ${message}`;
}

/** Drizzle's error names the statement; its cause says what is wrong. */
const isOfStatement = (error: unknown): error is Error & { cause: Error } =>
  error instanceof Error && error.message.startsWith('Failed query:') && error.cause instanceof Error;

const isUnreachable = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT)/.test(String(error.code))) ||
    /^Connection (is closed|terminated)|timeout exceeded when trying to connect/.test(error.message));

const CHECK_STORE = 'Check that it is running and that its address is correct, then try again.';
