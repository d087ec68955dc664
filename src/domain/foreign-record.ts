/**
 * Records whose names come from outside, such as axes. Zod drops the name `__proto__` without a word, and a quarantine that
 * lost one of its axes would cover more than was asked. So the name is refused.
 */
import { z } from 'zod';
// `z.core` would put all of it, and every language of zod, into the file that CI jobs download.
import { $constructor, type $ZodRecordDef } from 'zod/v4/core';

export const REFUSED_NAME = '__proto__';

const REFUSAL = `holds the name ${JSON.stringify(REFUSED_NAME)}, which is not allowed`;

/** A kind of schema, and no `z.preprocess`: with that, fields of answers would no longer be required. */
const ForeignRecord = $constructor<z.ZodRecord, $ZodRecordDef>('ForeignRecord', (schema, def) => {
  z.ZodRecord.init(schema, def);
  const { parse } = schema._zod;
  schema._zod.parse = (payload, context) => {
    const given = payload.value;
    if (typeof given !== 'object' || given === null || !Object.hasOwn(given, REFUSED_NAME))
      return parse(payload, context);
    payload.issues.push({ code: 'custom', message: REFUSAL, input: given, inst: schema, params: {} });
    return payload;
  };
});

/** `z.record`, also in its JSON Schema, that refuses {@link REFUSED_NAME}. */
export const foreignRecord = <V extends z.ZodType>(keyType: z.ZodString, valueType: V) =>
  new ForeignRecord({ type: 'record', keyType, valueType }) as z.ZodRecord<z.ZodString, V>;
