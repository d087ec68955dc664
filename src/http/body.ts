/** JSON request bodies: the one place that checks media type, size, shape, syntax and schema. */
import type { z } from 'zod';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { DEPTH_MAX, JSON_BODY_VALUES_MAX } from '../domain/limits.ts';
import type { BodyRoom } from './body-room.ts';
import { joinedBytes, sentBytes } from './bounded-bytes.ts';
import { excessOf } from './json-shape.ts';
import { inputError, type Read } from './parameters.ts';
import { payloadTooLarge } from './problems.ts';
import { turnsOf } from './turns.ts';

interface Asked<T> {
  schema: z.ZodType<T>;
  bytesMax: number;
  /** Where the bytes of all bodies lie that are being read. */
  room: BodyRoom;
}

/** Reads and checks a JSON body. Throws 413 and 503; every other problem is listed in the result. */
export async function readJsonBody<T>(request: Request, { schema, bytesMax, room }: Asked<T>): Promise<Read<T>> {
  const tooLarge = () => payloadTooLarge(REQUEST_LIMITS.JSON_BODY_BYTES_MAX.sentence(bytesMax));
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) throw tooLarge();
  const mediaType = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (!/^application\/([\w.-]+\+)?json$/.test(mediaType))
    return wrong('must be JSON, with the header "Content-Type: application/json"', 'invalid_media_type');
  const place = room.enter();
  try {
    const bytes = await joinedBytes(place.counted(sentBytes(request, bytesMax, tooLarge)));
    return await parse(bytes, schema, turnsOf(request));
  } finally {
    place.leave();
  }
}

async function parse<T>(bytes: Uint8Array, schema: z.ZodType<T>, turn: ReturnType<typeof turnsOf>): Promise<Read<T>> {
  await turn();
  const excess = excessOf(bytes, { depthMax: DEPTH_MAX, valuesMax: JSON_BODY_VALUES_MAX });
  if (excess === 'depth') return wrong(`nests more than ${DEPTH_MAX} deep`, 'too_deep');
  if (excess === 'values') return wrong(REQUEST_LIMITS.JSON_BODY_VALUES_MAX.sentence(), 'too_big');
  await turn();
  let parsed: unknown;
  try {
    parsed = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return wrong('is not well-formed JSON in UTF-8', 'invalid_json');
  }
  await turn();
  const read = schema.safeParse(parsed);
  if (read.success) return { value: read.data };
  return { errors: read.error.issues.map((issue) => inputError(['body', ...issue.path], issue)) };
}

const wrong = (msg: string, type: string): Read<never> => ({ errors: [{ loc: ['body'], msg, type }] });
