/** Lists in JSON of which only some items are read. */
import { z } from 'zod';

/** Cuts the list first, because collecting an error for each of a million wrong items would take seconds. */
export const firstOf = <T>(item: z.ZodType<T>, lengthMax: number) =>
  z
    .array(z.unknown())
    .transform((items) => items.slice(0, lengthMax))
    .pipe(z.array(item));
