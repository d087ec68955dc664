/**
 * The job payloads as JSON Schema, for producers in other languages. `bun src/queue/json-schema.ts` writes them to docs/; a
 * test fails when they are out of date.
 */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { compressedSchema } from './encoding.ts';
import { testRunsSchema } from './test-runs.ts';

export const TEST_RUNS_SCHEMA_FILE = new URL('../../docs/test-runs.v1.schema.json', import.meta.url);

/** Either the plain payload or the same, compressed. What JSON Schema cannot say stands in its description. */
export function testRunsJsonSchema(): string {
  const plain = z.toJSONSchema(testRunsSchema, { io: 'input', target: 'draft-2020-12' });
  const compressed = z.toJSONSchema(compressedSchema, { io: 'input', target: 'draft-2020-12' });
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'test-runs job, version 1',
    description:
      'One chunk of at most 5,000 executions that share a run. All arrays under "executions" have one length, and all under "failures". "b" of the compressed form is the base64 of the zstd of the plain form.',
    oneOf: [plain, compressed].map(({ $schema: _, ...rest }) => rest),
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

if (import.meta.main) writeFileSync(TEST_RUNS_SCHEMA_FILE, testRunsJsonSchema());
