/** Path parameters of the API. */
import { version as uuidVersion, validate as validateUuid } from 'uuid';
import { z } from 'zod';
import { ownerSchema, repositoryNameSchema } from '../domain/repository-path.ts';

export const owner = ownerSchema.meta({
  description: 'Owner of the repository; compared without case.',
  example: 'acme',
});

export const repository = repositoryNameSchema.meta({
  description: 'Name of the repository; compared without case.',
  example: 'shop',
});

const UUID5 = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-5[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$';

/** A UUID of version 5 in canonical or upper case → lower case. */
export const uuid5 = (description: string, example: string) =>
  z
    .string()
    .refine((value) => validateUuid(value) && uuidVersion(value) === 5, {
      error: 'must be a UUID of version 5',
      params: { type: 'invalid_uuid' },
    })
    .transform((value) => value.toLowerCase())
    // The format has the name that clients of the interface know; tools do not.
    .meta({ description, example, format: 'uuid5', pattern: UUID5 });

/** A UUID of any version → lower case. */
export const uuid = (description: string, example: string) =>
  z
    .string()
    .refine((value) => validateUuid(value), { error: 'must be a UUID', params: { type: 'invalid_uuid' } })
    .transform((value) => value.toLowerCase())
    .meta({ description, example, format: 'uuid' });

/** A whole number within bounds, in decimal digits → number. */
export function wholeNumber(min: number, max: number, description: string, example: number) {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .refine((value) => /^\d{1,15}$/.test(value), { error, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error })
    .meta({ description, example, type: 'integer', minimum: min, maximum: max });
}
