/** Path parameters of the interface (spec §2.1). */
import { version as uuidVersion, validate as validateUuid } from 'uuid';
import { z } from 'zod';

export const owner = z
  .string()
  .min(1, { error: 'is empty' })
  .max(40, { error: 'is longer than 40 characters' })
  .regex(/^[a-zA-Z0-9-]+$/, { error: 'may hold letters, digits and - only' })
  .meta({ description: 'Owner of the repository; compared without case.', example: 'acme' });

/** The spec sets no limit; this one is far above what hosts allow, and below what an index entry can hold. */
const REPOSITORY_LENGTH_MAX = 1_000;

export const repository = z
  .string()
  .min(1, { error: 'is empty' })
  .max(REPOSITORY_LENGTH_MAX, { error: `is longer than ${REPOSITORY_LENGTH_MAX} characters` })
  .regex(/^[\w.-]+$/, { error: 'may hold letters, digits, _, - and . only' })
  .meta({ description: 'Name of the repository; compared without case.', example: 'shop' });

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
    // The format is the specification's own word, which tools do not know.
    .meta({ description, example, format: 'uuid5', pattern: UUID5 });

/** A UUID of any version → lower case. */
export const uuid = (description: string, example: string) =>
  z
    .string()
    .refine((value) => validateUuid(value), { error: 'must be a UUID', params: { type: 'invalid_uuid' } })
    .transform((value) => value.toLowerCase())
    .meta({ description, example, format: 'uuid' });
