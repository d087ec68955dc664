/** The rows of an answer in JSONEachRow. */
import { z } from 'zod';
import { StoreUnavailable } from '../errors.ts';

/** An error after the first rows were sent stands behind them: in a separate row, or as text. */
const failedRow = z.strictObject({ exception: z.string().startsWith('Code: ') });
const FAILED_TEXT = /Code: \d+\. .*/s;

/** Throws ClickHouse's error if the answer ends with one, and `StoreUnavailable` if it breaks off. */
export function rowsIn(text: string): unknown[] {
  const { values, read, done } = Bun.JSONL.parseChunk(text);
  const failed = failedRow.safeParse(values.at(-1));
  if (failed.success) throw new Error(failed.data.exception);
  if (done) return values;
  const [said] = FAILED_TEXT.exec(text.slice(read)) ?? [];
  if (said !== undefined) throw new Error(said);
  throw new StoreUnavailable('clickhouse', new Error('the answer breaks off'));
}
