/** Which store an error is about. */
import { type StoreName, StoreUnavailable } from '../errors.ts';
import { StatementRefused } from './trouble.ts';

/** Undefined if it is about none: a fault of ours, or of the data. */
export function failingStore(error: unknown): StoreName | undefined {
  if (error instanceof StoreUnavailable) return error.store;
  // It answers, but will not do what worked before: rights were taken, a table changed.
  return error instanceof StatementRefused ? 'clickhouse' : undefined;
}
