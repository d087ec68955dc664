/** The parameters of an upload, which tell the service the run. Axes and places are repeated ones. */
import { z } from 'zod';
import type { Axes } from '../domain/axes.ts';

export const uploadQuerySchema = z.record(z.string(), z.union([z.string(), z.array(z.string()).readonly()]));

export type UploadQuery = Readonly<z.infer<typeof uploadQuerySchema>>;

export const searchOf = (query: UploadQuery): URLSearchParams =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value])),
  );

/** `{ os: 'windows' }` → `os:windows`, as the service takes it; nothing without any. */
export function pairsOf(axes: Axes): readonly string[] | undefined {
  const pairs = Object.entries(axes).map(([name, value]) => `${name}:${value}`);
  return pairs.length === 0 ? undefined : pairs;
}
