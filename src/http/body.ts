/** JSON request bodies: the one place that checks media type, size, syntax and schema. */
import type { z } from 'zod';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { JSON_BODY_BYTES_MAX } from '../domain/limits.ts';
import { joinedBytes, sentBytes } from './bounded-bytes.ts';
import { inputError, type Read } from './parameters.ts';
import { payloadTooLarge } from './problems.ts';

/** Reads and checks a JSON body. Throws 413; every other problem is listed in the result. */
export async function readJsonBody<T>(request: Request, schema: z.ZodType<T>): Promise<Read<T>> {
  const mediaType = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!/^application\/([\w.-]+\+)?json$/.test(mediaType))
    return wrong('must be JSON, with the header "Content-Type: application/json"', 'invalid_media_type');
  const bytes = await joinedBytes(sentBytes(request, JSON_BODY_BYTES_MAX, tooLarge));
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return wrong('is not well-formed JSON in UTF-8', 'invalid_json');
  }
  const read = schema.safeParse(parsed);
  if (read.success) return { value: read.data };
  return { errors: read.error.issues.map((issue) => inputError(['body', ...issue.path], issue)) };
}

const tooLarge = () => payloadTooLarge(REQUEST_LIMITS.JSON_BODY_BYTES_MAX.sentence());

const wrong = (msg: string, type: string): Read<never> => ({ errors: [{ loc: ['body'], msg, type }] });
