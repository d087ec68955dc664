/**
 * Reads path and query parameters exactly as sent. Elysia's parsing splits values at commas and strips brackets, which
 * ruins test names such as `t[a,b]`; this parsing decodes each `name=value` and nothing more.
 *
 * A parameter is described once: `read` turns its values into what the handler gets, `schema` is what the OpenAPI
 * document shows. A value that cannot be decoded (`%ZZ`, or bytes that are not UTF-8, such as those of a lone
 * surrogate) is 422, where URLSearchParams would turn it into U+FFFD.
 */
import { validate as validateUuid } from 'uuid';
import { z } from 'zod';
import { attachmentsFolderOf } from '../domain/attachments.ts';
import { AXES_MAX, type Axes, axesRejection, axisOf } from '../domain/axes.ts';
import { REQUEST_LIMITS } from '../domain/limit-table.ts';
import { ARRAY_LENGTH_MAX, CURSOR_LENGTH_MAX, NAME_LENGTH_MAX, WEB_ADDRESS_BYTES_MAX } from '../domain/limits.ts';
import { parseMoment } from '../domain/moment.ts';
import type { InputError } from './problems.ts';
import { branchName, text, webAddress } from './text.ts';

/** One query parameter: from all values under its name in order, or undefined if there are none, to `T`. */
export interface QueryParameter<T> {
  read: z.ZodType<T, readonly string[] | undefined>;
  /** JSON Schema of the parameter, for the OpenAPI document. */
  schema: Record<string, unknown>;
  description: string;
  required: boolean;
  isRepeated: boolean;
  example?: unknown;
}

export type QueryShape = Readonly<Record<string, QueryParameter<unknown>>>;
export type QueryOf<Q extends QueryShape> = { [K in keyof Q]: Q[K] extends QueryParameter<infer T> ? T : never };

const PER_PAGE_MAX = 100;
export const PER_PAGE_DEFAULT = 10;

interface Description {
  description: string;
  example?: unknown;
  /** The meaning of an absent parameter, if one value says it. */
  default?: string | number;
}

const once = <T>(value: z.ZodType<T, string>) =>
  z
    .custom<readonly string[]>((values) => Array.isArray(values) && values.length === 1, {
      error: 'is given more than once',
      params: { type: 'too_big' },
    })
    .transform(([only = '']) => only)
    .pipe(value)
    .optional();

function optional<T>(
  value: z.ZodType<T, string>,
  schema: Record<string, unknown>,
  { description, example, default: absent }: Description,
): QueryParameter<T | undefined> {
  const documented = absent === undefined ? schema : { ...schema, default: absent };
  return { read: once(value), schema: documented, description, required: false, isRepeated: false, example };
}

/** Optional text; lengths count code points. */
export const textParameter = (min: number, max: number, about: Description): QueryParameter<string | undefined> =>
  optional(text(min, max), { type: 'string', minLength: min, maxLength: max }, about);

const branchSchema = { type: 'string', minLength: 1, maxLength: NAME_LENGTH_MAX };

/** Optional branch, with or without `refs/heads/`. */
export const branchParameter = (about: Description): QueryParameter<string | undefined> =>
  optional(branchName, branchSchema, about);

/** Repeated branches. */
export const branchesParameter = (about: Description): QueryParameter<string[]> =>
  repeated(branchName, branchSchema, about);

/** An address with http or https. */
export const webAddressParameter = (about: Description): QueryParameter<string | undefined> =>
  optional(
    webAddress,
    { type: 'string', format: 'uri', pattern: '^https?://', maxLength: WEB_ADDRESS_BYTES_MAX },
    about,
  );

/** The address of a folder, with https. */
export const folderAddressParameter = (about: Description): QueryParameter<string | undefined> =>
  optional(
    webAddress.transform((address, context) => {
      const folder = attachmentsFolderOf(address);
      if (folder !== null) return folder;
      context.addIssue({ code: 'custom', message: 'must be an https:// address without a password or a query' });
      return z.NEVER;
    }),
    { type: 'string', format: 'uri', pattern: '^https://', maxLength: WEB_ADDRESS_BYTES_MAX },
    about,
  );

/** Repeated text: each value stands alone, none is split. */
export const textsParameter = (max: number, about: Description, min: 0 | 1 = 1): QueryParameter<string[]> =>
  repeated(text(min, max), { type: 'string', minLength: min, maxLength: max }, about);

/** Repeated axes, as `name:value`, each once; undefined without any. */
export function axesParameter({ description, example }: Description): QueryParameter<Axes | undefined> {
  const pair = z.string().transform((value, context): [string, string] => {
    const axis = axisOf(value);
    if (axis) return axis;
    context.addIssue({
      code: 'custom',
      message: 'must be a name and a value with a colon between them, such as os:linux',
    });
    return z.NEVER;
  });
  const all = atMost(AXES_MAX, `has more than ${AXES_MAX} values`)
    .pipe(z.array(pair))
    .transform((pairs, context) => {
      const axes = Object.fromEntries(pairs);
      const names = new Set(pairs.map(([name]) => name));
      const problem = names.size < pairs.length ? 'names an axis more than once' : axesRejection(axes);
      if (problem === null) return axes;
      context.addIssue({ code: 'custom', message: problem });
      return z.NEVER;
    });
  return {
    read: all.optional(),
    schema: { type: 'array', maxItems: AXES_MAX, items: { type: 'string', pattern: '^[^:=\\s]{1,64}:' } },
    description,
    example,
    required: false,
    isRepeated: true,
  };
}

/** Counted before any value is looked at. */
const atMost = (max: number, error: string) =>
  z
    .custom<readonly string[]>((list) => Array.isArray(list) && list.length <= max, {
      error,
      params: { type: 'too_big' },
    })
    .transform((list) => [...list]);

/** Repeated values of one kind: sorted and without duplicates, because their order has no meaning. */
function repeated<T extends string | number>(
  value: z.ZodType<T, string>,
  items: Record<string, unknown>,
  { description, example }: Description,
): QueryParameter<T[]> {
  const values = atMost(ARRAY_LENGTH_MAX, REQUEST_LIMITS.ARRAY_LENGTH_MAX.sentence())
    .pipe(z.array(value))
    .transform((list) => [...new Set(list)].sort());
  return {
    read: z.preprocess((list) => list ?? [], values),
    schema: { type: 'array', maxItems: ARRAY_LENGTH_MAX, items },
    description,
    example,
    required: false,
    isRepeated: true,
  };
}

/** Any of a closed set of words, repeated. */
export const enumsParameter = <const T extends string>(values: readonly T[], about: Description): QueryParameter<T[]> =>
  repeated(oneOf(values), { type: 'string', enum: [...values] }, about);

/** Whole numbers within bounds, repeated. */
export const integersParameter = (min: number, max: number, about: Description): QueryParameter<number[]> =>
  repeated(integer(min, max), { type: 'integer', minimum: min, maximum: max }, about);

const oneOf = <const T extends string>(values: readonly T[]): z.ZodType<T, string> =>
  z.string().transform((value, context) => {
    const known = values.find((one) => one === value);
    if (known !== undefined) return known;
    context.addIssue({ code: 'custom', message: `must be one of ${values.join(', ')}` });
    return z.NEVER;
  });

function integer(min: number, max: number): z.ZodType<number, string> {
  const error = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, { error, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });
}

/** One of a closed set of words. */
export const enumParameter = <const T extends string>(
  values: readonly T[],
  about: Description,
): QueryParameter<T | undefined> =>
  optional(oneOf(values), { type: 'string', enum: [...values] }, { example: values[0], ...about });

/** A whole number within bounds, in decimal digits. */
export const integerParameter = (min: number, max: number, about: Description): QueryParameter<number | undefined> =>
  optional(integer(min, max), { type: 'integer', minimum: min, maximum: max }, { example: min, ...about });

/** A number within bounds, in decimal digits with a point. */
export function numberParameter(min: number, max: number, about: Description): QueryParameter<number | undefined> {
  const error = `must be a number from ${min} to ${max}`;
  const read = z
    .string()
    .regex(/^\d{1,15}(?:\.\d{1,15})?$/, { error, abort: true })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error });
  return optional(read, { type: 'number', minimum: min, maximum: max }, { example: min, ...about });
}

/** A UUID of any version → lower case. */
export const uuidParameter = (about: Description): QueryParameter<string | undefined> =>
  optional(
    z
      .string()
      .refine((value) => validateUuid(value), { error: 'must be a UUID', params: { type: 'invalid_uuid' } })
      .transform((value) => value.toLowerCase()),
    { type: 'string', format: 'uuid' },
    about,
  );

/** A date-time with a zone → milliseconds since the epoch (src/domain/moment.ts). */
export function momentParameter(about: Description): QueryParameter<number | undefined> {
  const read = z.string().transform((value, context) => {
    const at = parseMoment(value);
    if (at !== undefined) return at;
    context.addIssue({
      code: 'custom',
      message: 'must be an ISO 8601 date-time with a zone, such as 2026-11-21T10:00:00Z',
      params: { type: 'invalid_date_time' },
    });
    return z.NEVER;
  });
  return optional(read, { type: 'string', format: 'date-time' }, { example: '2026-11-21T10:00:00Z', ...about });
}

/** Opaque; an empty cursor is the first page. */
export const cursorParameter = (): QueryParameter<string | undefined> =>
  optional(
    text(0, CURSOR_LENGTH_MAX),
    { type: 'string', maxLength: CURSOR_LENGTH_MAX },
    {
      description:
        'Taken from the `Link` header of an earlier response, never built by the client. An empty cursor is the first page.',
      // Pages that fill in examples must not send a cursor of another list.
      example: '',
    },
  );

/** @param absent what a request without it gets; null: something that no number says */
export const perPageParameter = (absent: number | null = PER_PAGE_DEFAULT): QueryParameter<number | undefined> =>
  integerParameter(1, PER_PAGE_MAX, {
    description: 'Items per page; defaults to 10, or with a cursor to the size of the earlier page.',
    example: 10,
    ...(absent !== null && { default: absent }),
  });

/** The result of reading input: a value, or what is wrong with it. */
export type Read<T> = { value: T; errors?: undefined } | { value?: undefined; errors: readonly InputError[] };

/** Reads the parameters of a shape from a raw query string (without `?`); others are ignored. */
export function readQuery<Q extends QueryShape>(shape: Q, query: string): Read<QueryOf<Q>> {
  const sent = new Map<string, string[]>();
  const errors: InputError[] = [];
  const unread = new Set<string>();
  for (const pair of query.length === 0 ? [] : query.split('&')) {
    const end = pair.indexOf('=');
    const name = decode(end < 0 ? pair : pair.slice(0, end));
    if (name === undefined || !Object.hasOwn(shape, name)) continue;
    const value = decode(end < 0 ? '' : pair.slice(end + 1));
    if (value !== undefined) push(sent, name, value);
    // Once for each parameter.
    else if (!unread.has(name)) {
      unread.add(name);
      errors.push(undecodable(['query', name]));
    }
  }
  const values: Record<string, unknown> = {};
  for (const [name, parameter] of Object.entries(shape)) {
    if (unread.has(name)) continue;
    const texts = sent.get(name);
    // Most are absent, and asking the schema of each would take longer than reading those that are there.
    if (texts === undefined && !parameter.required && !parameter.isRepeated) {
      values[name] = undefined;
      continue;
    }
    const read = parameter.read.safeParse(texts);
    if (read.success) values[name] = read.data;
    else
      for (const issue of read.error.issues)
        errors.push(inputError(['query', name, ...(parameter.isRepeated ? issue.path : [])], issue));
  }
  return errors.length > 0 ? { errors } : { value: values as QueryOf<Q> };
}

/** Reads path parameters, given still encoded. */
export function readPath<T>(schema: z.ZodType<T>, raw: Readonly<Record<string, string>>): Read<T> {
  const errors: InputError[] = [];
  const values: Record<string, string> = {};
  for (const [name, encoded] of Object.entries(raw)) {
    const value = decode(encoded.replaceAll('+', '%2B'));
    if (value === undefined) errors.push(undecodable(['path', name]));
    else values[name] = value;
  }
  if (errors.length > 0) return { errors };
  const read = schema.safeParse(values);
  if (read.success) return { value: read.data };
  return { errors: read.error.issues.map((issue) => inputError(['path', ...issue.path], issue)) };
}

/** A zod issue as an input error of the API. */
export function inputError(loc: readonly PropertyKey[], issue: z.core.$ZodIssue): InputError {
  const custom = issue.code === 'custom' && typeof issue.params?.type === 'string' ? issue.params.type : undefined;
  return {
    loc: loc.map((part) => (typeof part === 'number' ? part : String(part))),
    msg: issue.message,
    type: custom ?? (issue.code === 'custom' ? 'invalid_value' : issue.code),
  };
}

const undecodable = (loc: string[]): InputError => ({
  loc,
  msg: 'is not percent-encoded UTF-8; a literal % is sent as %25',
  type: 'invalid_encoding',
});

function decode(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

function push(map: Map<string, string[]>, name: string, value: string): void {
  const values = map.get(name);
  if (values) values.push(value);
  else map.set(name, [value]);
}
