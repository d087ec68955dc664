/**
 * The job payloads as JSON Schema, for producers in other languages. `bun src/queue/json-schema.ts` writes them to docs/; a
 * test fails when they are out of date.
 */
import { writeFileSync } from 'node:fs';
import { z } from 'zod';
import { compressedSchema } from './encoding.ts';
import { prEventsSchema, typedEventSchemas } from './pr-events.ts';
import { testRunsSchema } from './test-runs.ts';

export const TEST_RUNS_SCHEMA_FILE = new URL('../../docs/test-runs.v1.schema.json', import.meta.url);
export const PR_EVENTS_SCHEMA_FILE = new URL('../../docs/pr-events.v1.schema.json', import.meta.url);

/** Either the plain payload or the same, compressed. What JSON Schema cannot say stands in its description. */
export function testRunsJsonSchema(): string {
  return schemaText({
    title: 'test-runs job, version 1',
    description:
      'One chunk of at most 5,000 executions that share a run. All arrays under "executions" have one length, and all under "failures". "b" of the compressed form is the base64 of the zstd of the plain form.',
    oneOf: [schemaOf(testRunsSchema), schemaOf(compressedSchema)],
  });
}

/** As above; an event is one of the types, each with its metadata. */
export function prEventsJsonSchema(): string {
  const plain = schemaOf(prEventsSchema);
  const { events } = plain.properties as { events: { items: object } };
  const ofTypes = typedEventSchemas.map((event) => schemaOf(event.pick({ type: true, metadata: true })));
  const typed = { ...events, items: { ...events.items, oneOf: ofTypes } };
  return schemaText({
    title: 'pr-events job, version 1',
    description:
      'What happened on pull requests of one repository: at most 1,000 events. An event that is of no type here, or whose metadata does not fit its type, goes to the dead letters; the others are kept. "b" of the compressed form is the base64 of the zstd of the plain form.',
    oneOf: [{ ...plain, properties: { ...plain.properties, events: typed } }, schemaOf(compressedSchema)],
  });
}

function schemaOf(schema: z.ZodType): Record<string, object | undefined> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' });
  return rest as Record<string, object | undefined>;
}

const schemaText = (schema: object): string =>
  `${JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema }, null, 2)}\n`;

if (import.meta.main) {
  writeFileSync(TEST_RUNS_SCHEMA_FILE, testRunsJsonSchema());
  writeFileSync(PR_EVENTS_SCHEMA_FILE, prEventsJsonSchema());
}
