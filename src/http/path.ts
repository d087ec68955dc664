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
