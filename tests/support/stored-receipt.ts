/** Waiting until a service has stored an upload. */
import { z } from 'zod';
import { until } from './patience.ts';

const EVERY_MS = 50;
const stateSchema = z.object({ status: z.literal('stored') });
const countsSchema = z.object({ accepted: z.int(), duplicate: z.int() });

/** The counts of a receipt, once it says that the upload is stored. @param ask asks for the receipt */
export async function storedReceipt(ask: () => Promise<Response>): Promise<z.infer<typeof countsSchema>> {
  const isStored = (answer: unknown): boolean => stateSchema.safeParse(answer).success;
  return countsSchema.parse(await until(async () => (await ask()).json(), isStored, EVERY_MS));
}
