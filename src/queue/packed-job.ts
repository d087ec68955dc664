/** A job as it goes into the queue: packed where it is made, or where it is queued. */
import type { z } from 'zod';
import { type Compressed, compress, compressText } from './encoding.ts';
import type { JobKind } from './job-kind.ts';

export interface PackedJob {
  id: string;
  data: Compressed;
}

export const packJob = <S extends z.ZodType>(kind: JobKind<S>, payload: z.input<S>): PackedJob => ({
  id: kind.id(payload),
  data: compress(payload),
});

/** A payload as JSON, which is packed where it is queued: alone or with others. */
export interface PlainJob {
  id: string;
  json: string;
}

export const packPlain = ({ id, json }: PlainJob): PackedJob => ({ id, data: compressText(json) });
