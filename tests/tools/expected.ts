/** What is right to say of the reports that tools write, by the path of their copies: expected.json, written by people. */
import { z } from 'zod';
import expected from './expected.json';

export const EXPECTED = z
  .record(z.string(), z.object({ executions: z.array(z.string()), warnings: z.array(z.string()) }))
  .parse(expected);
