/**
 * The payload of each job kind as JSON Schema, for producers in other languages. `bun src/queue/json-schema.ts` writes
 * them to docs/; a test fails when they are out of date.
 */
import { writeFileSync } from 'node:fs';
import { compressedSchema } from './encoding.ts';
import { type JobKind, toJsonSchema } from './job-kind.ts';
import { publicJobKinds } from './kinds.ts';

export const jsonSchemaFile = ({ name, version }: JobKind): URL =>
  new URL(`../../docs/${name}.v${version}.schema.json`, import.meta.url);

/** Either the plain payload or the same, compressed. */
export function jobJsonSchema(kind: JobKind): string {
  const { name, version, description } = kind;
  const plain = kind.documentedSchema?.() ?? kind.schema;
  const job = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `${name} job, version ${version}`,
    description: `${description} "b" of the compressed form is the base64 of the zstd of the plain form.`,
    oneOf: [plain, compressedSchema].map(toJsonSchema),
  };
  return `${JSON.stringify(job, null, 2)}\n`;
}

if (import.meta.main) for (const kind of publicJobKinds) writeFileSync(jsonSchemaFile(kind), jobJsonSchema(kind));
