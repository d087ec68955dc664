/** The result of one check of the doctor. */
import pTimeout from 'p-timeout';

export interface Finding {
  /** Name of the check, in a few words. */
  check: string;
  /** A problem keeps the service from working, or soon will; a warning is worth knowing. */
  level: 'ok' | 'warning' | 'problem';
  message: string;
  /** The way to fix it. Only for warnings and problems. */
  remedy?: string;
}

export const ok = (check: string, message: string): Finding => ({ check, level: 'ok', message });
export const warning = (check: string, message: string, remedy: string): Finding => ({
  check,
  level: 'warning',
  message,
  remedy,
});
export const problem = (check: string, message: string, remedy: string): Finding => ({
  check,
  level: 'problem',
  message,
  remedy,
});

/** How long a store or an address may take to respond. */
export const TIMEOUT_MS = 5_000;

/** Throws if there is no response in time. */
export const inTime = <T>(ask: () => Promise<T>): Promise<T> =>
  pTimeout(ask(), { milliseconds: TIMEOUT_MS, message: `no response within ${TIMEOUT_MS / 1_000} s` });

/** The first line of the innermost cause's message: wrappers say less. */
export function reasonOf(error: unknown): string {
  let innermost = error;
  while (innermost instanceof Error && innermost.cause instanceof Error) innermost = innermost.cause;
  if (!(innermost instanceof Error)) return String(innermost);
  const code = 'code' in innermost && typeof innermost.code === 'string' ? innermost.code : '';
  return innermost.message.split('\n')[0] || code || innermost.name;
}
